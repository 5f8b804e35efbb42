#!/usr/bin/env python3
"""Trains the model of meaning and writes it. See README.md for the recipe and the format.

train.py --pairs FOLDER --heldout FOLDER --out FOLDER [--dry-run]
"""
import argparse
import array
import collections
import glob
import gzip
import hashlib
import json
import math
import multiprocessing
import os
import random
import struct
import sys
import time
import zlib

from tokens import is_han, runs, tokens

LATIN, HAN, HAN_GRAMS = 60000, 5300, 34700
DIMS = (32, 64, 128)
SHIPPED = 64
MAGIC = b"TFMEAN01"
LONGEST = 128  # tokens of a text that are trained on


# Reading and tokenizing: plain Python, in parallel

def read_chunks(folder, size=20000):
    """The pairs as chunks (source, lines), every chunk of one source, in a fixed order."""
    for path in sorted(glob.glob(f"{folder}/*.tsv.gz")):
        source = os.path.basename(path)[:-len(".tsv.gz")]
        lines = []
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for line in f:
                lines.append(line.rstrip("\n"))
                if len(lines) == size:
                    yield source, lines
                    lines = []
        if lines:
            yield source, lines


def count_chunk(chunk):
    """How many texts have each token, and the Han runs that are short enough to be one word."""
    source, lines = chunk
    found, alone = collections.Counter(), set()
    for line in lines:
        for text in line.split("\t")[1:]:
            found.update(set(tokens(text)))
            alone.update(run for han, run in runs(text) if han and 2 <= len(run) <= 4)
    return source, found, alone


def choose_vocabulary(pool, chunks):
    """The most frequent tokens of each kind. Square roots keep one large source from filling it.

    A Han gram is a word if it somewhere stands alone and is more than a part of one longer gram.
    """
    by_source = collections.defaultdict(collections.Counter)
    words = set()
    for source, found, alone in pool.imap(count_chunk, chunks):
        by_source[source].update(found)
        words |= alone
    total = collections.Counter()
    score = collections.defaultdict(float)
    for found in by_source.values():
        for token, n in found.items():
            total[token] += n
            score[token] += math.sqrt(n)
    longer = collections.Counter()  # the most frequent longer gram that a gram stands in
    for token, n in total.items():
        if len(token) > 2 and is_han(token[0]):
            for part in (token[:-1], token[1:]):
                longer[part] = max(longer[part], n)
    kinds = ([], [], [])
    for token, n in total.items():
        if not is_han(token[0]):
            kinds[0].append(token)
        elif len(token) == 1:
            kinds[1].append(token)
        elif n > 1 and token in words and longer[token] < 0.8 * n:
            kinds[2].append(token)
    chosen = []
    for kind, most in zip(kinds, (LATIN, HAN, HAN_GRAMS)):
        kind.sort(key=lambda t: (-score[t], t))
        chosen.extend(kind[:most])
    chosen.sort()  # by code point, which is the order of the bytes in UTF-8
    return chosen, [total[t] for t in chosen]


IDS = {}


def set_ids(vocabulary):
    IDS.update((t, i) for i, t in enumerate(vocabulary))


def encode(text):
    return [IDS[t] for t in tokens(text) if t in IDS]


def text_hash(text):
    return int.from_bytes(hashlib.blake2b(text.lower().encode(), digest_size=8).digest(), "little", signed=True)


def encode_chunk(chunk):
    """Token ids of all texts of a chunk, flat, with lengths and hashes; two texts a pair."""
    source, lines = chunk
    flat, lengths, hashes = array.array("i"), array.array("i"), array.array("q")
    for line in lines:
        _, left, right = line.split("\t")
        a, b = encode(left)[:LONGEST], encode(right)[:LONGEST]
        if not a or not b:
            continue
        flat.extend(a)
        flat.extend(b)
        lengths.extend((len(a), len(b)))
        hashes.extend((text_hash(left), text_hash(right)))
    return source, flat, lengths, hashes


class Pairs:
    """All pairs: flat token ids, lengths and hashes (two a pair), and the range of pairs of each source."""

    def __init__(self):
        self.flat, self.lengths, self.hashes = array.array("i"), array.array("i"), array.array("q")
        self.ranges = {}

    def add(self, source, flat, lengths, hashes):
        start, end = self.ranges.get(source, (len(self.lengths) // 2,) * 2)
        self.flat.extend(flat)
        self.lengths.extend(lengths)
        self.hashes.extend(hashes)
        self.ranges[source] = start, len(self.lengths) // 2


def prepare(args):
    began = time.time()
    chunks = list(read_chunks(args.pairs))
    with multiprocessing.get_context("fork").Pool(args.cores) as pool:
        vocabulary, counts = choose_vocabulary(pool, chunks)
    say(f"{sum(len(c[1]) for c in chunks)} pairs, {len(vocabulary)} tokens chosen, {time.time() - began:.0f} s")
    set_ids(vocabulary)
    pairs = Pairs()
    with multiprocessing.get_context("fork").Pool(args.cores) as pool:  # a new one, which inherits the ids
        for encoded in pool.imap(encode_chunk, chunks):
            pairs.add(*encoded)
    say(f"{len(pairs.lengths) // 2} pairs encoded, {len(pairs.flat) / max(1, len(pairs.lengths)):.1f} tokens a text, "
        f"{time.time() - began:.0f} s")
    return vocabulary, counts, pairs


# Training

class Trainer:
    def __init__(self, args, torch, pairs, counts):
        self.args, self.torch = args, torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        on = lambda values, kind: torch.frombuffer(values, dtype=kind).to(self.device)
        self.flat = on(pairs.flat, torch.int32)
        self.lengths = on(pairs.lengths, torch.int32).long()
        self.starts = self.lengths.cumsum(0) - self.lengths
        self.hashes = on(pairs.hashes, torch.int64)
        self.ranges = pairs.ranges
        self.rows = len(counts)
        self.noise = torch.tensor(counts, dtype=torch.float32, device=self.device).pow(0.75).cumsum(0)
        self.noise /= self.noise[-1].clone()

    def start(self):
        """The rows that every seed begins with: the same, so that the trained ones can be averaged."""
        torch = self.torch
        made = torch.randn(self.rows, DIMS[-1], generator=torch.Generator().manual_seed(17))
        return (made * self.args.init).to(self.device)

    def sums(self, rows, texts, dropout):
        """The sum of the rows of each text's tokens; a share of the tokens of longer texts is left out."""
        torch = self.torch
        lengths = self.lengths[texts]
        columns = torch.arange(int(lengths.max()), device=self.device)
        inside = columns[None, :] < lengths[:, None]
        places = (self.starts[texts][:, None] + columns[None, :]).clamp_(max=len(self.flat) - 1)
        weights = inside.float()
        if dropout:
            drop = (torch.rand(weights.shape, device=self.device) < dropout) & (lengths > 2)[:, None]
            weights = weights.masked_fill(drop, 0.0)
        ids = self.flat[places].long().masked_fill_(~inside, 0)
        return torch.nn.functional.embedding_bag(ids, rows, mode="sum", per_sample_weights=weights)

    def noisy(self, rows, left):
        """Adds one to four random words to some questions."""
        torch = self.torch
        some = torch.rand(len(left), 1, device=self.device) < self.args.noise
        many = torch.arange(4, device=self.device)[None, :] < torch.randint(1, 5, (len(left), 1), device=self.device)
        drawn = torch.searchsorted(self.noise, torch.rand(len(left), 4, device=self.device)).clamp_(max=self.rows - 1)
        return left + torch.nn.functional.embedding_bag(drawn, rows, mode="sum", per_sample_weights=(many & some).float())

    def loss(self, rows, source):
        torch = self.torch
        first, end = self.ranges[source]
        size = min(self.args.batch, max(64, (end - first) // 2))
        chosen = torch.randint(first, end, (size,), device=self.device)
        side = int(torch.rand(()) < 0.3)  # which side is the question
        questions, answers = 2 * chosen + side, 2 * chosen + 1 - side
        left, right = self.sums(rows, questions, self.args.dropout), self.sums(rows, answers, 0.0)
        same = torch.eye(size, dtype=torch.bool, device=self.device)
        q, a = self.hashes[questions], self.hashes[answers]
        hidden = ((q[:, None] == q[None, :]) | (a[:, None] == a[None, :])) & ~same  # no true negatives
        # Mixed questions ask for two things; the other thing's answer is no negative then.
        shift = int(torch.randint(1, size, ()))
        mixed = torch.rand(size, device=self.device) < self.args.mixed
        left = left + left.roll(shift, 0) * mixed[:, None]
        other = torch.arange(size, device=self.device).roll(shift)
        place = torch.arange(size, device=self.device)
        hidden[place[mixed], other[mixed]] = True
        left = self.noisy(rows, left)
        target = torch.arange(size, device=self.device)
        total = 0.0
        for dims in DIMS:
            x = torch.nn.functional.normalize(left[:, :dims], dim=1)
            y = torch.nn.functional.normalize(right[:, :dims], dim=1)
            scores = (x @ y.T / self.args.temperature).masked_fill(hidden, -1e4)
            total = total + torch.nn.functional.cross_entropy(scores, target)
            total = total + torch.nn.functional.cross_entropy(scores.T, target)
        return total / (2 * len(DIMS))

    def train(self, seed):
        torch, args = self.torch, self.args
        torch.manual_seed(seed)
        draw = random.Random(seed)
        rows = self.start().requires_grad_(True)
        optimizer = torch.optim.Adam([rows], lr=args.lr)
        pace = lambda step: min(1.0, (step + 1) / 100) * max(0.02, 1 - step / args.steps)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, pace)
        sources = sorted(self.ranges)
        weights = [(self.ranges[s][1] - self.ranges[s][0]) ** 0.7 for s in sources]
        seen = collections.defaultdict(list)
        began = time.time()
        for step in range(args.steps):
            source = draw.choices(sources, weights)[0]
            loss = self.loss(rows, source)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            if step % 10 == 0:
                seen[source].append(loss.item())
            if (step + 1) % max(1, args.steps // 6) == 0 or step + 1 == args.steps:
                told = " ".join(f"{s} {sum(v) / len(v):.2f}" for s, v in sorted(seen.items()))
                say(f"seed {seed} step {step + 1} ({time.time() - began:.0f} s): {told}")
                seen.clear()
        return rows.detach().float().cpu()


def average(torch, trained, counts):
    """Turns every seed's rows onto the first seed's (orthogonal Procrustes) and averages them."""
    weight = torch.tensor(counts, dtype=torch.float32).sqrt()[:, None]
    total = trained[0].clone()
    for rows in trained[1:]:
        u, _, v = torch.linalg.svd((rows * weight).T @ trained[0])
        total += rows @ (u @ v)
    return total / len(trained)


# Measuring: plain Python on the numbers that are shipped

def embed(numbers, dims, text):
    """numbers: row -> list of floats. The normalized sum of the rows of a text's tokens."""
    total = [0.0] * dims
    for i in encode(text):
        for d, x in enumerate(numbers(i)):
            total[d] += x
    size = math.sqrt(sum(x * x for x in total))
    return [x / size for x in total] if size else total


def recall(torch, table, path):
    """R@1 and R@10 of the model alone; a tool is its normalized name plus its normalized description."""
    with open(path, encoding="utf-8") as f:
        body = json.load(f)

    def vectors(texts):
        made = torch.stack([table[encode(t)].sum(0) if encode(t) else torch.zeros(table.shape[1]) for t in texts])
        return torch.nn.functional.normalize(made, dim=1)

    tools = vectors([t["name"] for t in body["tools"]]) + vectors([t["description"] for t in body["tools"]])
    tools = torch.nn.functional.normalize(tools, dim=1)
    ids = [t["id"] for t in body["tools"]]
    ranked = (vectors([q["text"] for q in body["queries"]]) @ tools.T).argsort(dim=1, descending=True)[:, :10].tolist()
    hits = [0.0, 0.0]
    for query, best in zip(body["queries"], ranked):
        named = [ids[i] for i in best]
        for at, top in enumerate((named[:1], named)):
            hits[at] += sum(any(g in top for g in gold) for gold in query["gold"]) / len(query["gold"])
    return [h / len(body["queries"]) for h in hits]


def measure(torch, table, args, label):
    results = []
    for path in sorted(glob.glob(f"{args.heldout}/*.json")) if args.heldout else []:
        first, ten = recall(torch, table, path)
        results.append(ten)
        say(f"{label} {os.path.basename(path)[:-5]}: R@1 {first:.3f} R@10 {ten:.3f}")
    if results:
        say(f"{label} mean R@10 {sum(results) / len(results):.4f}")


# Writing

def quantize(row):
    """One scale and whole numbers from -127 to 127."""
    most = max(abs(x) for x in row)
    if most == 0:
        return 0.0, [0] * len(row)
    scale = struct.unpack("<f", struct.pack("<f", most / 127))[0]
    return scale, [max(-127, min(127, round(x / scale))) for x in row]


def write_model(path, vocabulary, rows):
    text = "\n".join(vocabulary).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(text) + packer.flush()
    scales, numbers = array.array("f"), array.array("b")
    for row in rows:
        scale, whole = quantize(row)
        scales.append(scale)
        numbers.extend(whole)
    head = MAGIC + struct.pack("<IIII", SHIPPED, len(vocabulary), len(packed), len(text))
    body = head + packed + scales.tobytes() + numbers.tobytes()
    with open(path, "wb") as f:
        f.write(body)
    with open(path + ".gz", "wb") as f:
        f.write(gzip.compress(body, 9, mtime=0))
    with open(os.path.dirname(path) + "/model.sha256", "w") as f:
        for name in (path, path + ".gz"):
            with open(name, "rb") as made:
                f.write(f"{hashlib.sha256(made.read()).hexdigest()}  {os.path.basename(name)}\n")
    say(f"model.bin {len(body)} bytes, compressed {os.path.getsize(path + '.gz')}")


def read_model(path):
    """(vocabulary, row -> list of floats), read as the Go side reads it."""
    with open(path, "rb") as f:
        body = f.read()
    if body[:8] != MAGIC:
        raise ValueError("no model of meaning")
    dims, count, packed, length = struct.unpack_from("<IIII", body, 8)
    text = zlib.decompress(body[24:24 + packed], -15)
    vocabulary = text.decode().split("\n")
    at = 24 + packed
    scales, numbers = array.array("f"), array.array("b")
    scales.frombytes(body[at:at + 4 * count])
    numbers.frombytes(body[at + 4 * count:])
    if len(text) != length or len(vocabulary) != count or len(numbers) != count * dims:
        raise ValueError("a broken model")
    return vocabulary, lambda i: [scales[i] * x for x in numbers[i * dims:(i + 1) * dims]]


SAMPLES = [
    "", "delete a file", "deleteFile", "HTTPServerError", "get_user_by_id", "EC2Instance", "describe-instances v2",
    "IPv4Address", "OAuth2 token", "ＡＢＣ１２３", "删除文件", "查询ECS实例的状态", "天气", "给张三发一封邮件 about the report",
    "café naïve", "send e-mail, now!", "x" * 25 + " ok", "repo.issues.listForRepo", "中 文a字母b", "3.14 2024-01-02",
    "日本語のテキスト", "UserIDs", "listURLs APIsByName", "A", "㐀𠀀 rare", "emoji 🎉 party", "iPhone xAxis isA",
]


def write_vectors(path, numbers=None):
    """What the Go test reads: the tokens of each sample, and the first numbers of its embedding."""
    made = []
    for text in SAMPLES:
        one = {"text": text, "tokens": tokens(text)}
        if numbers:
            one["first"] = [round(x, 6) for x in embed(numbers, SHIPPED, text)[:4]]
        made.append(one)
    with open(path, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in made) + "\n]\n")


REPORT = []


def say(line):
    REPORT.append(line)
    print(line, flush=True)


def finish(args, vocabulary, rows):
    write_model(f"{args.out}/model.bin", vocabulary, rows)
    read, numbers = read_model(f"{args.out}/model.bin")
    if read != vocabulary:
        raise ValueError("the model reads back differently")
    write_vectors(f"{args.out}/vectors.json", numbers)
    return numbers


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--pairs", required=True)
    parse.add_argument("--heldout")
    parse.add_argument("--out", required=True)
    parse.add_argument("--seeds", type=int, default=2)
    parse.add_argument("--steps", type=int, default=6000)
    parse.add_argument("--batch", type=int, default=4096)
    parse.add_argument("--lr", type=float, default=0.0007)
    parse.add_argument("--init", type=float, default=0.05, help="spread of the rows at the start")
    parse.add_argument("--temperature", type=float, default=0.12)
    parse.add_argument("--noise", type=float, default=0.3, help="share of questions with added words")
    parse.add_argument("--mixed", type=float, default=0.15, help="share of questions that ask for two things")
    parse.add_argument("--dropout", type=float, default=0.1, help="share of a question's words left out")
    parse.add_argument("--cores", type=int, default=os.cpu_count())
    parse.add_argument("--dry-run", action="store_true", help="all but the training; needs no torch")
    args = parse.parse_args()
    os.makedirs(args.out, exist_ok=True)
    vocabulary, counts, pairs = prepare(args)
    for kind, check in (("Latin", lambda t: not is_han(t[0])), ("Han", is_han_one), ("Han 2-4", lambda t: len(t) > 1 and is_han(t[0]))):
        own = [t for t in vocabulary if check(t)]
        say(f"{kind}: {len(own)} tokens, for instance {' '.join(random.Random(5).sample(own, min(12, len(own))))}")
    if args.dry_run:
        draw = random.Random(6)
        finish(args, vocabulary, ([draw.gauss(0, 1) for _ in range(SHIPPED)] for _ in vocabulary))
    else:
        import torch
        torch.set_float32_matmul_precision("high")
        trainer = Trainer(args, torch, pairs, counts)
        trained = []
        for seed in range(args.seeds):
            trained.append(trainer.train(seed)[:, :SHIPPED].contiguous())
            measure(torch, trained[-1], args, f"seed {seed}")
        numbers = finish(args, vocabulary, average(torch, trained, counts).tolist())
        measure(torch, torch.tensor([numbers(i) for i in range(len(vocabulary))]), args, "model.bin")
    with open(f"{args.out}/report.txt", "w", encoding="utf-8") as f:
        f.write("\n".join([" ".join(sys.argv)] + REPORT) + "\n")


def is_han_one(token):
    return len(token) == 1 and is_han(token)


if __name__ == "__main__":
    sys.exit(main())
