"""How a text becomes tokens. The Go side does exactly the same; README.md states the rules."""

MAX_WORD = 24


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
    text = "".join(chr(ord(c) - 0xFEE0) if "\uff01" <= c <= "\uff5e" else c for c in text)
    start = 0
    while start < len(text):
        kind = is_han if is_han(text[start]) else is_word if is_word(text[start]) else None
        end = start + 1
        if kind is not None:
            while end < len(text) and kind(text[end]):
                end += 1
            yield kind is is_han, text[start:end]
        start = end


def words(run):
    """Splits a run of ASCII letters and digits where camelCase does, and lower-cases the parts."""
    parts = []
    start = 0
    for i in range(1, len(run)):
        if not is_upper(run[i]):
            continue
        after_small = not is_upper(run[i - 1])
        before_small = is_upper(run[i - 1]) and i + 1 < len(run) and is_lower(run[i + 1])
        if after_small or before_small:
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
