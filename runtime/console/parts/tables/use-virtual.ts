import { useSignal } from "@preact/signals";
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  windowScroll,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";

import { forgetGone } from "./forget-gone.ts";

export interface VirtualRows {
  readonly count: number;
  /** Height of a row before it was measured, pixels. */
  readonly estimate: number;
  /** Hears how high a row of the page is that was measured. */
  readonly onHeight?: (pixels: number) => void;
  /** Another function means that all keys are others: it must be the same while the rows are. */
  readonly keyAt: (index: number) => string;
  /** The element that holds the rows. */
  readonly list: RefObject<HTMLElement | null>;
  /** The element that scrolls; absent = the page does. */
  readonly scroller?: RefObject<HTMLElement | null> | undefined;
}

/** Rows beyond the window that are rendered, so that a flick shows no hole. */
const overscan = 8;

/** Renders only the rows that are in sight. */
export function useVirtual(
  rows: VirtualRows,
): Virtualizer<Window, HTMLElement> | Virtualizer<HTMLElement, HTMLElement> {
  const changes = useSignal(0);
  /** Where the rows begin on the page; it changes with what stands above them. */
  const margin = useSignal(0);
  void changes.value;
  const { count, estimate, keyAt, list, scroller, onHeight } = rows;
  const shared = {
    count,
    overscan,
    estimateSize: () => estimate,
    getItemKey: keyAt,
    // A wheel ends a scroll at each of its notches: what stands still is told once, a moment after the last of them.
    useScrollendEvent: false,
    onChange: () => void changes.value++,
  };
  const ofPage = (): VirtualizerOptions<Window, HTMLElement> => ({
    ...shared,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    scrollMargin: margin.value,
    measureElement: (element, entry, instance) => {
      const height = entry?.borderBoxSize[0]?.blockSize;
      // Asked for outside of a layout, which would be made for it alone: the observer tells it after the next one.
      if (height === undefined) return instance.measurementsCache[instance.indexFromElement(element)]?.size ?? estimate;
      onHeight?.(Math.round(height));
      return Math.round(height);
    },
  });
  const ofElement = (): VirtualizerOptions<HTMLElement, HTMLElement> => ({
    ...shared,
    getScrollElement: () => scroller?.current ?? null,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
  });
  const made = useMemo(
    () =>
      scroller === undefined
        ? { kind: "page" as const, virtual: new Virtualizer<Window, HTMLElement>(ofPage()) }
        : { kind: "element" as const, virtual: new Virtualizer<HTMLElement, HTMLElement>(ofElement()) },
    [],
  );
  if (made.kind === "page") made.virtual.setOptions(ofPage());
  else made.virtual.setOptions(ofElement());
  useLayoutEffect(() => made.virtual._didMount(), []);
  useLayoutEffect(() => {
    if (made.kind === "element") return undefined;
    const measure = (): void => {
      const { current } = list;
      if (current === null) return;
      const { scrollY } = window;
      margin.value = Math.round(current.getBoundingClientRect().top + scrollY);
      if (made.virtual.scrollOffset === scrollY) return;
      // The page was scrolled before the list was there to hear of it.
      made.virtual.scrollOffset = scrollY;
      changes.value++;
    };
    // The observer calls at first, too, after the layout that comes anyway.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    made.virtual._willUpdate();
    forgetGone(made.virtual.itemSizeCache, count, keyAt);
  });
  return made.virtual;
}
