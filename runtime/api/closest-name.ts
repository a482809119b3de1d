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

/** The setting that was probably meant: spelt otherwise, or with at most `mistakes` typing mistakes; undefined if none is near. */
export function closestName(name: string, known: Iterable<string>, mistakes: number): string | undefined {
  return nearest(settingSpelling(name), known, mistakes, (candidate) => candidate);
}

/**
 * The name that was probably meant, whatever its case and its `-`, `_` and `.`: `scale.mim` for `scale.min`; undefined
 * if none is near. Names that differ by more than two typing mistakes, or by more than a quarter of their letters, are not.
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
    // In a short word a mistake or two make another word.
    const most = Math.min(mistakes, Math.floor(candidate.length / 4));
    // Each mistake changes the length by one at the most; environments have many names that are like none of ours.
    if (Math.abs(candidate.length - wanted.length) > most) continue;
    const distance = typingMistakes(wanted, candidate);
    if (distance <= most && (best === undefined || distance < best.distance)) best = { name, distance };
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
