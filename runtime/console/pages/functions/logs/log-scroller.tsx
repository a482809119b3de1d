import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { useConsole } from "../../../data/console-context.ts";
import { clockTime } from "../../../data/time/time-words.ts";
import { countOf } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { useVirtual } from "../../../parts/tables/use-virtual.ts";
import { Shown } from "../../../parts/texts/shown.tsx";
import type { ShownLine } from "./log-line.ts";

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

/** Lines of a log; it follows new ones until it is scrolled up. */
export function LogScroller({ lines, text, wrap, isLive, linked }: LogScrollerProps) {
  const { address, clock } = useConsole();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const rows = lines.value;
  const follows = useSignal(linked === "");
  const seen = useSignal(0);
  const shownLink = useRef("");
  const keyAt = useLineKeys(rows);
  const virtual = useVirtual({
    count: rows.length,
    estimate: lineHeight,
    keyAt,
    list,
    scroller,
  });
  const top = useRef(0);
  useLayoutEffect(() => {
    // Rows that were measured may be higher than they were thought to be.
    const { current } = scroller;
    if (follows.peek() && current !== null) current.scrollTop = current.scrollHeight;
  });
  useEffect(() => {
    if (follows.peek()) seen.value = rows.length;
  }, [rows]);
  useEffect(() => {
    const index = rows.findIndex(({ key }) => key === linked);
    if (linked === "" || index === -1 || shownLink.current === linked) return;
    shownLink.current = linked;
    follows.value = false;
    virtual.scrollToIndex(index, { align: "center" });
  }, [linked, rows]);
  const { path, query } = address.place.value;
  const hrefOf = (key: string): string => {
    const search = query.toString();
    return `${path}${search === "" ? "" : `?${search}`}#${encodeURIComponent(key)}`;
  };
  const fresh = rows.length - seen.value;
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
          if (atEnd) seen.value = rows.length;
          top.current = scrollTop;
        }}
      >
        <div ref={list} class="log-lines" style={{ height: `${virtual.getTotalSize()}px` }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const line = rows[index];
            if (line === undefined) return null;
            const { instance, timestamp, stream } = line.record;
            return (
              <div
                key={key}
                ref={wrap ? virtual.measureElement : null}
                class={`log-line${line.key === linked ? " log-linked" : ""}${stream === "stderr" ? " log-err" : ""}`}
                data-index={index}
                style={{ transform: `translateY(${start}px)` }}
              >
                <a class="log-time" href={hrefOf(line.key)} title={timestamp}>
                  {clockTime(Date.parse(timestamp), clock.zone.value)}
                </a>
                <span class="log-replica" title={instance}>
                  <Shown text={instance} />
                </span>
                {stream === "stderr" && <span class="hidden">standard error</span>}
                <span class="log-text" dir="auto">
                  {line.runs.map((run, at) => (
                    <span key={at} class={run.classes}>
                      <Marked text={run.text} find={text} />
                    </span>
                  ))}
                </span>
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
              seen.value = rows.length;
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
  const latest = useMemo(() => ({ rows, version: 0 }), []);
  const before = latest.rows;
  const last = before.length - 1;
  if (before[0] !== rows[0] || before[last] !== rows[last]) latest.version++;
  latest.rows = rows;
  return useCallback((index: number) => latest.rows[index]?.key ?? String(index), [latest.version]);
}

/** A text in which what was looked for is marked. */
function Marked({ text, find }: { readonly text: string; readonly find: string }) {
  if (find === "") return <Shown text={text} />;
  const parts: { readonly text: string; readonly isFound: boolean }[] = [];
  const [small, wanted] = [text.toLowerCase(), find.toLowerCase()];
  let from = 0;
  for (let at = small.indexOf(wanted); at !== -1; at = small.indexOf(wanted, from)) {
    parts.push(
      { text: text.slice(from, at), isFound: false },
      { text: text.slice(at, at + wanted.length), isFound: true },
    );
    from = at + wanted.length;
  }
  parts.push({ text: text.slice(from), isFound: false });
  return (
    <>
      {parts.map((part, index) =>
        part.text === "" ? null : part.isFound ? (
          <mark key={index}>
            <Shown text={part.text} />
          </mark>
        ) : (
          <Shown key={index} text={part.text} />
        ),
      )}
    </>
  );
}
