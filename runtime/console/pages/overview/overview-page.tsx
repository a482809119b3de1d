import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { FunctionState } from "../../../api/schemas/watch/function-row.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { useNarrowing } from "../../data/address/use-narrowing.ts";
import { useConsole } from "../../data/console-context.ts";
import { narrowFunctions } from "../../data/functions/narrow-functions.ts";
import { functionStateWords } from "../../data/functions/state-words.ts";
import { useAfterFrame } from "../../data/look/use-after-frame.ts";
import { useFunctions } from "../../data/functions/use-functions.ts";
import { countOf, countWords } from "../../data/words/number-words.ts";
import { Waiting } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import { formatOrder, parseOrder } from "../../parts/tables/column.ts";
import { SelectField, TextField } from "../../parts/forms/field.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { SaidText } from "../../parts/texts/said-text.tsx";
import { Note } from "../../parts/texts/notice-bar.tsx";
import { FirstFunction } from "./first-function.tsx";
import { FunctionList } from "./function-list.tsx";
import { PlatformFigures } from "./platform-figures.tsx";
import { useNarrowedText } from "../../data/address/use-narrowed-text.ts";

const states = Object.keys(functionStateWords) as readonly FunctionState[];

/** All functions, with what they do now. */
export function OverviewPage() {
  const { session } = useConsole();
  const { functions, fault } = useFunctions();
  const begun = useMemo(() => Date.now(), []);
  const text = useNarrowedText("q");
  const [state, changeState] = useNarrowing("state");
  const [namespace, changeNamespace] = useNarrowing("namespace");
  const [sort, changeSort] = useNarrowing("sort", "name");
  const [narrowed, sorted] = [useAfterFrame(text.narrowed), useAfterFrame(sort)];
  const members = useComputed(() => {
    void functions.changes.value;
    return functions.byName;
  });
  const namespaces = useComputed(() => [...new Set(members.value.map((cell) => cell.peek().namespace))].toSorted());
  const shown = useComputed(() => {
    void functions.changes.value;
    // Its portions come one after another: each of them would be sorted in.
    if (!functions.isWhole.value) return [];
    return narrowFunctions(functions.byName, {
      text: narrowed.value,
      state: states.find((each) => each === state.value) ?? "",
      namespace: namespace.value,
      order: parseOrder(sorted.value),
    });
  });
  const count = shown.value.length;
  const all = functions.cells.size;
  return (
    <>
      <PageHead title="Functions">
        {session.may("Function:Create") && (
          <a class="button button-main" href={pageLink.newFunction}>
            New function
          </a>
        )}
      </PageHead>
      <PlatformFigures functions={functions} />
      {fault.value !== "" && <Note tone="warn">{fault.value}</Note>}
      {!functions.isWhole.value && <Waiting since={begun} what="the functions" />}
      {functions.isWhole.value && all === 0 && (
        <Panel bare>
          <FirstFunction />
        </Panel>
      )}
      {functions.isWhole.value && all > 0 && (
        <Panel bare>
          <div class="filters panel-inset">
            <TextField label="Search" value={text.typed} type="search" placeholder="Name or namespace" />
            <SelectField
              label="State"
              value={state.value}
              choices={[["", "All"], ...states.map((each) => [each, functionStateWords[each][0]] as const)]}
              onChange={changeState}
            />
            {(namespaces.value.length > 1 || namespace.value !== "") && (
              <SelectField
                label="Namespace"
                value={namespace.value}
                choices={[["", "All"], ...namespaces.value.map((each) => [each, each] as const)]}
                onChange={changeNamespace}
              />
            )}
            <p class="muted filters-count">
              <SaidText
                text={count === all ? countOf(all, "function") : `${countWords(count)} of ${countOf(all, "function")}`}
              />
            </p>
          </div>
          {count === 0 ? (
            <Empty title="No function fits">
              <p>
                None of {countOf(all, "function")} has this name and state. <a href={pageLink.overview}>Show all</a>
              </p>
            </Empty>
          ) : (
            <FunctionList
              shown={shown}
              order={parseOrder(sort.value)}
              onOrder={(order) => changeSort(formatOrder(order))}
            />
          )}
        </Panel>
      )}
    </>
  );
}
