"""The pages of the book: which there are in each language, where each lies on the site, and where
its links lead there."""

import collections
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = ["en", "zh"]
CONTENTS = {"en": "docs/SUMMARY.md", "zh": "docs/zh/SUMMARY.md"}
PICTURES = (".svg", ".png")
# The pages that take ids apart and plan layouts. On the site they are in the folder tools.
TOOLS = "layouts/wasm/page/"
# The end of a line between Chinese characters, where a browser would leave a gap.
WIDE = r"\u3000-\u303f\u3400-\u9fff\uff00-\uffef"
JOINED = re.compile(rf"(?<=[{WIDE}])\n *(?=[{WIDE}])")
ENTRY = re.compile(r"^( *- |)\[(.+)\]\((.+)\)$")


def tracked():
    """The paths of all files of the repository, from its root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    return [path for path in listed.stdout.decode().split("\0") if (ROOT / path).is_file()]


def address():
    """Where the repository is on the web, at this version."""
    manifest = (ROOT / "Cargo.toml").read_text()
    value = lambda key: re.search(rf'^{key} = "(.*)"$', manifest, re.M)[1]
    return value("repository"), "v" + value("version")


def resolve(page, target):
    """The path from the root of what a page names by a relative path."""
    return os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page


def english_of(page):
    """The English page of a Chinese one; of an English one, itself."""
    if page == "README.zh-CN.md":
        return "README.md"
    if not page.startswith("docs/zh/"):
        return page
    below = page.removeprefix("docs/zh/")
    return f"docs/{below}" if (ROOT / "docs" / below).is_file() else below


def staged(page):
    """Where a page lies below the folder of its language. A page has the same place in both, and
    the page that begins the book is at the root of it."""
    page = english_of(page)
    if page == "docs/README.md":
        return "index.md"
    if page == "README.md":
        return "readme.md"
    return re.sub(r"(^|/)README\.md$", r"\1index.md", page)


def outside_code(text, change):
    """The text, with what is no code changed by a function."""
    parts = re.split(r"(^```.*?^```$|`+[^`]+`+)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("`") else change(part) for part in parts)


def anchors(page):
    """The anchors of a page's headings, in their order."""
    found, seen = [], collections.Counter()
    prose = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.M | re.S)
    for title in re.findall(r"^#+ (.*)$", prose, re.M):
        anchor = re.sub(r"[^\w-]", "", title.lower().replace(" ", "-"))
        seen[anchor] += 1
        found.append(anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor] - 1}")
    return found


class Book:
    """The pages of one language. Those that are not in it yet are in English."""

    def __init__(self, language):
        self.language = language
        self.path = CONTENTS[language]
        self.lines = (ROOT / self.path).read_text().splitlines()
        # By the English page: its title, and the page itself.
        self.pages = {}
        for line in self.lines:
            if entry := ENTRY.match(line):
                page = resolve(self.path, entry[3])
                self.pages[english_of(page)] = (entry[2], page)

    def summary(self):
        """The table of contents, for mdBook: with the paths at which pages are staged."""
        place = lambda entry: f"{entry[1]}[{entry[2]}]({staged(resolve(self.path, entry[3]))})"
        return "\n".join(ENTRY.sub(place, line) for line in self.lines) + "\n"

    def text(self, page, books, end):
        """A page with links that lead to the same place from the site. `end` is how pages end
        there: "html" or "md"."""
        here = os.path.dirname(f"{self.language}/{staged(page)}")

        def to(match):
            before, link, after = match.groups()
            return before + self.link(page, here, link, books, end) + after

        def change(part):
            part = JOINED.sub("", part)
            part = re.sub(r"(\]\()([^)\s]+)(\))", to, part)
            part = re.sub(r"^(\[[^]]+\]: )(\S+)()$", to, part, flags=re.M)
            return re.sub(r'(\b(?:src|srcset|href)=")([^"]+)(")', to, part)

        return outside_code((ROOT / page).read_text(), change)

    def link(self, page, here, link, books, end):
        if re.match(r"[a-z]+:", link):
            return link
        path, _, anchor = link.partition("#")
        path = resolve(page, path)
        if path.startswith(TOOLS) and path.endswith(".html"):
            return os.path.relpath(path.replace(TOOLS, "tools/"), here) + f"?lang={self.language}"
        if path.endswith(PICTURES):
            return os.path.relpath(f"{self.language}/{path}", here)
        for book in [self, *books.values()]:
            if english_of(path) in book.pages:
                return os.path.relpath(book.place(path, end), here) + book.anchor(path, anchor)
        repository, version = address()
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{repository}/{kind}/{version}/{path}" + (f"#{anchor}" if anchor else "")

    def place(self, page, end):
        return f"{self.language}/{staged(page).removesuffix('md')}{end}"

    def anchor(self, page, anchor):
        """The same heading in this book's language: the pages have the same headings."""
        own = self.pages[english_of(page)][1]
        if not anchor or own == page:
            return f"#{anchor}" if anchor else ""
        english = anchors(page)
        if anchor not in english:
            raise SystemExit(f"a page links to {page}#{anchor}, which has no such heading")
        return "#" + anchors(own)[english.index(anchor)]


def all_books():
    return {language: Book(language) for language in LANGUAGES}
