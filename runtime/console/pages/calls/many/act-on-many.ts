import { isAbort } from "../../../data/requests/request-failure.ts";

/** Most calls that are acted on at once. */
export const mostAtOnce = 500;

/** One that nothing was done to, and why. */
export interface Refused<Item> {
  readonly item: Item;
  readonly sentence: string;
}

/** How far an act on many has come. */
export interface ManyProgress<Item> {
  readonly total: number;
  readonly done: number;
  readonly refused: readonly Refused<Item>[];
  /** All were tried, or it was stopped. */
  readonly isOver: boolean;
}

export interface ManyOptions<Item> {
  /** Resolves when it is done; what it throws is why it was refused, but an `AbortError`. It is never cut. */
  readonly act: (item: Item) => Promise<unknown>;
  readonly heard: (progress: ManyProgress<Item>) => void;
  /** Nothing is begun after it. */
  readonly signal: AbortSignal;
  /** How many are tried at the same time. */
  readonly parallel?: number;
}

/** Does the same to many, a few at a time, and says after each how far it is. */
export async function actOnMany<Item>(
  items: readonly Item[],
  { act, heard, signal, parallel = 4 }: ManyOptions<Item>,
): Promise<ManyProgress<Item>> {
  const left = [...items].toReversed();
  const refused: Refused<Item>[] = [];
  let done = 0;
  const progress = (isOver: boolean): ManyProgress<Item> => ({
    total: items.length,
    done,
    refused: [...refused],
    isOver,
  });
  const work = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined && !signal.aborted; item = left.pop()) {
      try {
        await act(item);
        done += 1;
      } catch (err) {
        if (isAbort(err)) return;
        refused.push({ item, sentence: err instanceof Error ? err.message : String(err) });
      }
      heard(progress(false));
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, work));
  const last = progress(true);
  heard(last);
  return last;
}
