"""Roles, links and numbers within a paragraph, in CommonMark."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from notebook_edition.links import Links

CODE = r"(?P<ticks>`+)(?!`)(?:(?!(?P=ticks)(?!`)).)+?(?P=ticks)(?!`)"
MATH = r"(?<![\\$])\$(?!\$)(?:\\.|[^$\\])+?\$"
KEPT = re.compile(f"(?:{CODE})|(?:{MATH})", re.DOTALL)
ROLE = re.compile(r"\{([a-zA-Z][\w:.+-]*)\}(`+)(.+?)\2", re.DOTALL)
LINK = re.compile(r'(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?:<([^>]*)>|([^)\s]*))(?:\s+"[^"]*")?\)')
MARK = re.compile(r"<sup>\[")  # a link that stands small behind a sentence stays as small
NAMED = re.compile(r"</?data\b[^>]*>|<span id=[^>]*></span>")  # names for machines
WITHIN = re.compile(r'<a href="#[^"]*">(.*?)</a>', re.DOTALL)
TARGET = re.compile(r"(.*?)\s*<([^<>]+)>\s*", re.DOTALL)
PLAIN = {"sub": "<sub>{}</sub>", "sup": "<sup>{}</sup>", "kbd": "<kbd>{}</kbd>"}
PLAIN |= dict.fromkeys(("code", "literal", "file", "guilabel", "command"), "`{}`")
PLAIN |= {"math": "${}$", "term": "{}", "abbr": "{}", "emphasis": "*{}*", "strong": "**{}**"}


@dataclass
class Inline:
    """Rewrites paragraphs of one page.

    Parameters
    ----------
    links : Links
    cited : function
        Takes the keys of a citation and whether it stands in a sentence, as "Vaswani (2017)"
        does, and returns its text.
    macros : dict
        Macro of TeX without its backslash, and what it stands for.
    faults : list of str
        What could not be resolved; grows.
    """

    links: Links
    cited: Callable[[tuple[str, ...], bool], str]
    macros: dict[str, str]
    faults: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> str:
        """Return a text without roles, with links that lead somewhere and macros written out."""
        text = ROLE.sub(self._role, text)
        kept: list[str] = []

        def keep(found: re.Match) -> str:
            kept.append(found[0] if found["ticks"] else self.formula(found[0]))
            return f"\0{len(kept) - 1}\0"

        text = NAMED.sub("", KEPT.sub(keep, text))
        text = LINK.sub(self._link, WITHIN.sub(r"\1", text))
        while "\0" in text:
            text = re.sub(r"\0(\d+)\0", lambda found: kept[int(found[1])], text)
        return text

    def formula(self, text: str) -> str:
        """Return a formula whose macros are written out: no viewer knows those of the site."""
        if not self.macros:
            return text
        known = "|".join(map(re.escape, self.macros))
        return re.sub(rf"\\({known})(?![a-zA-Z])", lambda found: self.macros[found[1]], text)

    def number(self, label: str) -> str:
        """Return the number of a label; where there is none, the label, and a fault."""
        try:
            return self.links.number(label)
        except KeyError:
            self.faults.append(f"the site has no number for {label}")
            return label

    def _role(self, found: re.Match) -> str:
        name, content = found[1], found[3].strip()
        if name in PLAIN:
            return PLAIN[name].format(content)
        kind = name.removeprefix("cite:")
        if name == "cite" or name.startswith("cite:"):
            return self.cited(tuple(re.split(r",\s*", content)), kind.startswith("t"))
        given = TARGET.fullmatch(content)
        words, target = (given[1], given[2]) if given else ("", content)
        if name in ("numref", "prf:ref", "eq"):
            return self._numbered(target)
        if name in ("ref", "doc"):
            return f"[{words}]({target})" if name == "ref" else f"[{words}]({target}.md)"
        if name == "download":
            return self._download(words or target, target)
        self.faults.append(f"unknown role {{{name}}}")
        return found[0]

    def _numbered(self, label: str) -> str:
        number = self.number(label)
        docname = self.links.site.place.get(label, self.links.docname)
        if docname == self.links.docname:
            return number
        return f"[{number}]({self.links.site.address(docname, label)})"

    def _download(self, words: str, target: str) -> str:
        address = self.links.site.file(target.rsplit("/", 1)[-1])
        if address is None:
            self.faults.append(f"the site offers no file {target}")
        return f"[`{words}`]({address})"

    def _link(self, found: re.Match) -> str:
        words, written = found[1], found[2] or found[3]
        if re.match(r"[a-z][\w+.-]*:", written):
            return found[0]
        if address := self.links.site.file(written.rsplit("/", 1)[-1]):
            return f"[{words}]({address})"
        try:
            return self.links.link(words, written)
        except KeyError:
            self.faults.append(f"the site has no place {written}")
            return found[0]
