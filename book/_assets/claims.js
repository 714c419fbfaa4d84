// The filter above the table of claims. Without this script the table is complete and the
// controls stay hidden. An address such as claims.html?verdict=refuted sets them.

document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.posenc-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("table.posenc-ledger tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const status = form.querySelector("[role=status]");
  const fields = [...form.querySelectorAll("input, select")];

  function fits(row, text) {
    return fields.every(({ name, value }) => {
      if (name === "words") {
        return value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
      }
      const own = name === "told" ? row.dataset.told.split(" ") : [row.dataset[name]];
      return !value || own.includes(value);
    });
  }

  function filter() {
    rows.forEach((row, i) => { row.hidden = !fits(row, texts[i]); });
    const left = rows.filter((row) => !row.hidden).length;
    status.textContent = `${left} of ${rows.length} claims shown`;
  }

  const asked = new URLSearchParams(window.location.search);
  for (const field of fields) {
    if (asked.has(field.name)) field.value = asked.get(field.name);
  }
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));  // after the fields are empty
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
});
