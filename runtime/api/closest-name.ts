/**
 * A name as settings are spelt, whatever spelling it was given in: `MaxInflight`, `max-inflight`, `WEIR_MAX_INFLIGHT`
 * and `MAX_INFLIGHT` are all `max_inflight`.
 */
export function settingSpelling(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase()
    .replace(/^weir_/, "");
}

/**
 * The setting that was probably meant: spelt differently, or with at most `mistakes` typing mistakes; else undefined.
 */
export function closestName(name: string, known: Iterable<string>, mistakes: number): string | undefined {
  return nearest(settingSpelling(name), known, mistakes, (candidate) => candidate);
}

/**
 * The name that was probably meant, ignoring case, `-`, `_` and `.`: `scale.min` for `scale.mim`. Undefined if every
 * name differs by more than two typing mistakes, or by more than a quarter of its letters.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  return nearest(lettersOf(name), known, 2, lettersOf);
}

function lettersOf(name: string): string {
  return name.replaceAll(/[-_.]/g, "").toLowerCase();
}

function nearest(
  wanted: string,
  known: Iterable<string>,
  mistakes: number,
  spelling: (candidate: string) => string,
): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const candidate = spelling(name);
    // In a short word, one or two mistakes make a different word.
    const maxMistakes = Math.min(mistakes, Math.floor(candidate.length / 4));
    // Each mistake changes the length by at most one; this skips the many unrelated names of an environment early.
    if (Math.abs(candidate.length - wanted.length) > maxMistakes) continue;
    const distance = typingMistakes(wanted, candidate);
    if (distance <= maxMistakes && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** Letters to add, drop, replace or swap with their neighbour until `a` is `b` (optimal string alignment). */
function typingMistakes(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
