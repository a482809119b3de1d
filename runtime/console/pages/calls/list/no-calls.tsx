import type { CallPageView } from "../../../../api/schemas/history/call-page.ts";
import { commandLine } from "../../../data/words/shell-word.ts";
import { CopyBlock } from "../../../parts/texts/copy.tsx";
import { Empty } from "../../../parts/texts/empty.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { ExactTime } from "../../../parts/texts/time.tsx";
import { formatCallQuery, type CallQuery } from "./call-query.ts";

export interface NoCallsProps {
  readonly query: CallQuery;
  readonly gaps: CallPageView["history"]["gaps"];
}

/** What stands in place of the list when it has no calls: how to make one. */
export function NoCalls({ query, gaps }: NoCallsProps) {
  const { function: name = "hello", ...others } = query;
  const isNarrow = formatCallQuery(others) !== "";
  return (
    <>
      {gaps.map(({ from, to }) => (
        <Note key={from} tone="warn">
          Calls may be missing: the history has a gap from <ExactTime at={from} /> to <ExactTime at={to} />
        </Note>
      ))}
      {isNarrow ? (
        <Empty title="No call fits these filters">
          <p>
            Calls that ended long ago are no longer kept, and queued ones are listed a moment after they were accepted.
          </p>
        </Empty>
      ) : (
        <Empty title={query.function === undefined ? "No call yet" : "No call of this function yet"}>
          <p>Queued calls are listed here, and what became of them. This queues one:</p>
          <CopyBlock text={commandLine(["weir", "invoke", name, "--async", "-d", "hi"])} />
        </Empty>
      )}
    </>
  );
}
