"""How a text becomes tokens. The Go side does exactly the same; README.md states the rules."""

MAX_WORD = 24

# The base letters of U+00C0 to U+017F, as in internal/core/search/static.
UNACCENTED = ("AAAAAAACEEEEIIIIDNOOOOO OUUUUYTsaaaaaaaceeeeiiiidnooooo ouuuuyty"
              "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLl"
              "NnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs")


def plain(c):
    """The ordinary form of a full-width character or accented Latin letter."""
    if "\u00c0" <= c <= "\u017f":
        return UNACCENTED[ord(c) - 0xC0]
    if "\uff01" <= c <= "\uff5e":
        return chr(ord(c) - 0xFEE0)
    return c


def is_han(c):
    return "\u4e00" <= c <= "\u9fff" or "\u3400" <= c <= "\u4dbf"


def is_lower(c):
    return "a" <= c <= "z"


def is_upper(c):
    return "A" <= c <= "Z"


def is_digit(c):
    return "0" <= c <= "9"


def is_word(c):
    return is_lower(c) or is_upper(c) or is_digit(c)


def runs(text):
    """Yields (is Han, run) for every longest run of Han characters or of ASCII letters and digits."""
    if not text.isascii():
        text = "".join(map(plain, text))
    start = 0
    while start < len(text):
        kind = is_han if is_han(text[start]) else is_word if is_word(text[start]) else None
        end = start + 1
        if kind is not None:
            while end < len(text) and kind(text[end]):
                end += 1
            yield kind is is_han, text[start:end]
        start = end


def starts_word(run, i):
    """Whether a new word begins at the upper-case letter run[i]."""
    if not is_upper(run[i - 1]):
        return True  # deleteFile, ec2Instance
    following = run[i + 1:i + 3]
    if not following or not is_lower(following[0]):
        return False
    plural = following[0] == "s" and not (len(following) == 2 and is_lower(following[1]))
    return not plural  # HTTPServer, but URLs


def words(run):
    """Splits a run of ASCII letters and digits where camelCase does, and lower-cases the parts.

    A single letter stays with what follows it: OAuth, IPv4, iPhone.
    """
    parts = []
    start = 0
    for i in range(2, len(run)):
        if is_upper(run[i]) and i - start > 1 and starts_word(run, i):
            parts.append(run[start:i].lower())
            start = i
    parts.append(run[start:].lower())
    return [p for p in parts if len(p) <= MAX_WORD]


def grams(run):
    """Every character of a Han run, and every two, three and four neighbors, in order of place, then of length."""
    return [run[i:i + n] for i in range(len(run)) for n in (1, 2, 3, 4) if i + n <= len(run)]


def tokens(text):
    """All tokens of a text, in order, known to the vocabulary or not."""
    found = []
    for han, run in runs(text):
        found.extend(grams(run) if han else words(run))
    return found
