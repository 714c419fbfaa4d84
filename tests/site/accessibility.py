"""What axe finds on a page, and the texts of a page that it must see to judge all colours."""

from axe_playwright_python.sync_playwright import Axe
from browsing import switch
from playwright.sync_api import Page

# Its rules that ask for colours: all that a theme can change, and what takes longest.
COLOURS = ("color-contrast", "link-in-text-block")
EXAMPLES = 3  # texts that look alike of which axe is shown the first so many
# What decides whether a text can be read: its colours, its size, what is behind it, and for a
# link the words around it. `looks` holds it for each theme.
NOTE_LOOKS = """() => {
  const behind = new Map();
  const layers = (e) => {
    if (!e) return "";
    if (!behind.has(e)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(e);
      const seen = /, 0\\)$/.test(backgroundColor) ? "" : backgroundColor;
      const own = seen + (backgroundImage === "none" ? "" : backgroundImage)
        + (opacity === "1" ? "" : opacity);
      behind.set(e, own ? `${own}<${layers(e.parentElement)}` : layers(e.parentElement));
    }
    return behind.get(e);
  };
  const words = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())
    || e.matches("input, select, textarea, button");
  window.looks ??= new Map();
  for (const e of document.querySelectorAll("body *")) {
    if (!words(e)) continue;
    const s = getComputedStyle(e), link = e.closest("a");
    const around = link && getComputedStyle(link.parentElement).color;
    const look = [
      e.checkVisibility({ visibilityProperty: true, opacityProperty: true }),
      e.matches(":disabled, [aria-disabled=true], [aria-disabled=true] *"), around,
      s.color, s.fill, s.fontSize, s.fontWeight, s.textDecorationLine, s.textShadow, layers(e),
    ].join();
    window.looks.set(e, `${window.looks.get(e) ?? ""}|${look}`);
  }
}"""
KEEP_EXAMPLES = """(examples) => {
  const seen = new Map(), kept = new Set();
  const keep = (e) => { for (; e && !kept.has(e); e = e.parentElement) kept.add(e); };
  document.querySelectorAll("body style, button.theme-switch-button").forEach(keep);
  for (const [e, look] of window.looks) {
    seen.set(look, (seen.get(look) ?? 0) + 1);
    if (seen.get(look) <= examples) keep(e);
  }
  document.querySelectorAll("body *").forEach((e) => { if (!kept.has(e)) e.remove(); });
}"""


def axe_finds_nothing(
    page: Page, rules: tuple = (), *, but: tuple = (), within: str | None = None
) -> None:
    """Run axe on a page, or on what a selector finds: all rules, those named, or all but some."""
    if set(rules) & {*COLOURS}:
        painted = page.evaluate("getComputedStyle(document.documentElement).opacity")
        assert painted == "1", "axe judges no colours of a page that is not painted"
    options: dict = {"resultTypes": ["violations"]}  # what is in order need not be described
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    if but:
        options["rules"] = {rule: {"enabled": False} for rule in but}
    findings = Axe().run(page, context=within, options=options).response["violations"]
    told = [
        f"{v['id']}: {node['target']} {node['failureSummary']}"
        for v in findings
        for node in v["nodes"]
    ]
    assert told == [], "\n".join(told)


def colours_can_be_read(page: Page) -> None:
    """Let axe judge the colours in both themes.

    Of texts that look alike in both it sees the first ones only, as a page of code has thousands;
    the others are taken out of the page, which is of no use afterwards.
    """
    for theme in ("light", "dark"):
        switch(page, theme)
        page.evaluate(NOTE_LOOKS)
    page.evaluate(KEEP_EXAMPLES, EXAMPLES)
    axe_finds_nothing(page, COLOURS)
    switch(page, "light")
    axe_finds_nothing(page, COLOURS)
