import { below, pick, type Random } from "../random.ts";

/** What mutants are made from. */
export interface Material {
  /** Inputs to splice in; at least one. */
  readonly corpus: readonly [Uint8Array, ...Uint8Array[]];
  /** Syntax of the input's language, as bytes. */
  readonly words: readonly Uint8Array[];
  readonly maxBytes: number;
}

type Mutation = (input: Uint8Array, material: Material, random: Random) => Uint8Array;

const maxMutations = 6;
const numbers = ["0", "-1", "1", "00", "1e9", "255", "65536", "4294967296", "9007199254740993", "9".repeat(40)];
const bytes = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2e, 0x2f, 0x3a, 0x5c, 0x7f, 0x80, 0xc3, 0xff];

/** Replaces `removed` bytes at `at` by `added`. */
function edit(input: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  return Buffer.concat([input.subarray(0, at), added, input.subarray(at + removed)]);
}

const place = (input: Uint8Array, random: Random): number => below(random, input.length + 1);

/** A part of the input, mostly a short one. */
function piece(input: Uint8Array, random: Random): Uint8Array {
  const from = place(input, random);
  const longest = random() < 0.8 ? 16 : input.length;
  return input.subarray(from, from + 1 + below(random, longest));
}

const mutations: readonly [Mutation, ...Mutation[]] = [
  (input, _material, random) => {
    const changed = Uint8Array.from(input);
    const at = below(random, input.length);
    changed[at] = (changed[at] ?? 0) ^ (1 << below(random, 8));
    return changed;
  },
  (input, _material, random) =>
    edit(input, place(input, random), below(random, 2), Uint8Array.of(pick(random, [0, ...bytes]))),
  (input, _material, random) =>
    edit(input, place(input, random), below(random, 2), Uint8Array.of(0x20 + below(random, 0x5f))),
  (input, _material, random) => edit(input, place(input, random), piece(input, random).length, new Uint8Array(0)),
  (input, _material, random) => edit(input, place(input, random), 0, piece(input, random)),
  (input, { words }, random) => edit(input, place(input, random), below(random, 4), wordOf(words, random)),
  (input, { words }, random) => edit(input, place(input, random), 0, wordOf(words, random)),
  (input, { corpus }, random) => edit(input, place(input, random), 0, piece(pick(random, corpus), random)),
  (input, { corpus }, random) => {
    const other = pick(random, corpus);
    return Buffer.concat([input.subarray(0, place(input, random)), other.subarray(place(other, random))]);
  },
  (input, _material, random) => {
    const text = Buffer.from(input).toString("latin1");
    const found = [...text.matchAll(/\d+/g)];
    const match = found[below(random, found.length)];
    if (match === undefined) return input;
    return edit(input, match.index, match[0].length, Buffer.from(pick(random, ["2", ...numbers])));
  },
  (input, { maxBytes }, random) => {
    const repeated = piece(input, random);
    if (repeated.length === 0) return input;
    const most = random() < 0.05 ? maxBytes : 300;
    const times = Math.max(1, Math.floor((most * random()) / repeated.length));
    return edit(input, place(input, random), 0, Buffer.alloc(repeated.length * times, repeated));
  },
];

function wordOf(words: readonly Uint8Array[], random: Random): Uint8Array {
  return words[below(random, words.length)] ?? new Uint8Array(0);
}

/** One of the corpus, changed in one to six ways; at most `maxBytes` long. */
export function mutate(material: Material, random: Random): Uint8Array {
  let input = parentOf(material.corpus, random);
  // Mostly one or two: an input with many changes is refused at once.
  for (let left = 1 + Math.floor(random() ** 3 * maxMutations); left > 0; left -= 1) {
    input = pick(random, mutations)(input, material, random).subarray(0, material.maxBytes);
  }
  return input;
}

/** Mostly the shorter of two: long inputs are slow, and one change affects them little. */
function parentOf(corpus: Material["corpus"], random: Random): Uint8Array {
  const [one, other] = [pick(random, corpus), pick(random, corpus)];
  return one.length <= other.length || random() < 0.1 ? one : other;
}
