import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { useConsole } from "../../../data/console-context.ts";
import { countOf } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { useVirtual } from "../../../parts/tables/use-virtual.ts";
import type { ShownLine } from "./log-line.ts";
import { LogLineRow } from "./log-row.tsx";

export interface LogScrollerProps {
  readonly lines: ReadonlySignal<readonly ShownLine[]>;
  /** What is marked in the lines. */
  readonly text: string;
  readonly wrap: boolean;
  /** Whether new lines come. */
  readonly isLive: boolean;
  /** Name of the line that was linked to. */
  readonly linked: string;
}

const lineHeight = 24;

/**
 * Lines of a log; it follows new ones until it is scrolled up. No closure here holds the lines themselves: Preact keeps
 * the nodes of when the page around it was last rendered, and with them all lines of that time, long dropped ones too.
 */
export function LogScroller({ lines, text, wrap, isLive, linked }: LogScrollerProps) {
  const { address, clock } = useConsole();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const count = lines.value.length;
  const follows = useSignal(linked === "");
  const seen = useSignal(0);
  /** Grows when lines came that are in sight only now that it is scrolled to them. */
  const turns = useSignal(0);
  void turns.value;
  const shownLink = useRef("");
  const keyAt = useLineKeys(lines.peek());
  const virtual = useVirtual({
    count,
    estimate: lineHeight,
    keyAt,
    list,
    scroller,
  });
  const inSight = virtual.getVirtualItems();
  const lastInSight = inSight.at(-1)?.index;
  const top = useRef(0);
  useLayoutEffect(() => {
    // Rows that were measured may be higher than they were thought to be.
    const { current } = scroller;
    if (!follows.peek() || current === null) return;
    current.scrollTop = current.scrollHeight;
    seen.value = count;
    // The list knows at once, so that nothing is rendered again for the scroll that is heard of later.
    virtual.scrollOffset = current.scrollTop;
    if (virtual.getVirtualItems().at(-1)?.index !== lastInSight) turns.value++;
  });
  useEffect(() => {
    const index = lines.peek().findIndex(({ key }) => key === linked);
    if (linked === "" || index === -1 || shownLink.current === linked) return;
    shownLink.current = linked;
    follows.value = false;
    virtual.scrollToIndex(index, { align: "center" });
  }, [linked, lines.peek()]);
  const { path, query } = address.place.value;
  const search = query.toString();
  const here = `${path}${search === "" ? "" : `?${search}`}`;
  // While it follows nobody asks: then a line that was seen renders nothing.
  const fresh = follows.value ? 0 : count - seen.value;
  return (
    <div class="log-place">
      <div
        ref={scroller}
        class={wrap ? "log log-wrap" : "log"}
        role="log"
        aria-label="Lines"
        aria-live="off"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          const atEnd = scrollHeight - scrollTop - clientHeight <= lineHeight;
          // Only a person scrolls up.
          if (scrollTop < top.current && !atEnd) follows.value = false;
          else if (atEnd) follows.value = true;
          if (atEnd) seen.value = lines.peek().length;
          top.current = scrollTop;
        }}
      >
        <div ref={list} class="log-lines" style={{ height: `${virtual.getTotalSize()}px` }}>
          {inSight.map(({ index, key, start }) => {
            const line = lines.peek()[index];
            if (line === undefined) return null;
            return (
              <div
                key={key}
                ref={wrap ? virtual.measureElement : null}
                class={`log-line${line.key === linked ? " log-linked" : ""}${line.record.stream === "stderr" ? " log-err" : ""}`}
                data-index={index}
                style={{ transform: `translateY(${start}px)` }}
              >
                <LogLineRow line={line} find={text} here={here} zone={clock.zone.value} />
              </div>
            );
          })}
        </div>
      </div>
      {isLive && !follows.value && (
        <div class="log-follow">
          <Button
            look="main"
            onClick={() => {
              follows.value = true;
              seen.value = lines.peek().length;
              virtual.scrollToEnd();
            }}
          >
            {fresh > 0 ? `Follow: ${countOf(fresh, "new line")}` : "Follow"}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Keys of lines, the same function while lines are only added at the end: then no height is worked out again. */
function useLineKeys(rows: readonly ShownLine[]): (index: number) => string {
  const { current: latest } = useRef({ rows, version: 0 });
  const before = latest.rows;
  const last = before.length - 1;
  if (before[0] !== rows[0] || before[last] !== rows[last]) latest.version++;
  latest.rows = rows;
  return useCallback((index: number) => latest.rows[index]?.key ?? String(index), [latest.version]);
}
