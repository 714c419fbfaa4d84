// Where the browser refuses to remember anything, what the theme stores lasts as long as the page.
// Without this its scripts end at their first line, and the switch of light and dark is dead.

for (const name of ["localStorage", "sessionStorage"]) {
  try {
    window[name].getItem("");
  } catch {
    const kept = new Map();
    const value = {
      getItem: (key) => kept.get(String(key)) ?? null,
      setItem: (key, item) => void kept.set(String(key), String(item)),
      removeItem: (key) => void kept.delete(String(key)),
      clear: () => kept.clear(),
    };
    Object.defineProperty(window, name, { value, configurable: true });
  }
}
