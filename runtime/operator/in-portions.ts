/** All of `items` in their order, as `count` portions of which none has more than one item more than another. */
export function inPortions<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  const start = (portion: number): number => Math.floor((portion * items.length) / count);
  return Array.from({ length: count }, (_, portion) => items.slice(start(portion), start(portion + 1)));
}
