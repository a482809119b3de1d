import type { FunctionStatus } from "../../../../api/schemas/function-status.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import { countWords, sizeWords } from "../../../data/words/number-words.ts";
import type { PageProps } from "../../../page-table.ts";
import { Panel } from "../../../parts/layout/panel.tsx";
import { Table } from "../../../parts/tables/table.tsx";
import { fact, Facts, Sentence, type FactRow } from "../../../parts/texts/sentence.tsx";
import { Code, Shown } from "../../../parts/texts/shown.tsx";
import { StateBadge } from "../../../parts/texts/state-badge.tsx";
import { Time } from "../../../parts/texts/time.tsx";
import { FunctionFrame } from "../function-frame.tsx";
import { deploymentOfStatus } from "../edit/deployment-of-status.ts";
import { namedOf } from "../named-of.ts";
import { conditionTone, functionSentence, replicaWords } from "./function-sentence.ts";
import { LoadPanel } from "./load-panel.tsx";
import { UsedSecrets } from "./used-secrets.tsx";

/** What a function does, and what was deployed. */
export function StatusPage({ params }: PageProps) {
  const named = namedOf(params);
  return (
    <FunctionFrame named={named} tab="status">
      {(status) => <StatusPanels status={status} />}
    </FunctionFrame>
  );
}

function StatusPanels({ status }: { readonly status: FunctionStatus }) {
  const { session } = useConsole();
  const { tone, state, sentence } = functionSentence(status);
  return (
    <>
      <Sentence tone={tone} state={state}>
        <Shown text={sentence} />
      </Sentence>
      <LoadPanel named={status} />
      <Panel title="Conditions" bare>
        <Table
          label="Conditions"
          rows={status.conditions}
          keyOf={({ type }) => type}
          columns={[
            {
              key: "type",
              title: "Condition",
              width: "11rem",
              narrow: "title",
              cell: (condition) => (
                <StateBadge tone={conditionTone(condition)}>
                  {condition.type}: {condition.status}
                </StateBadge>
              ),
            },
            { key: "reason", title: "Reason", width: "12rem", cell: ({ reason }) => <Shown text={reason} /> },
            {
              key: "message",
              title: "Why",
              width: "minmax(0, 1fr)",
              cell: ({ message }) => (
                <span class="breaks">
                  <Shown text={message} />
                </span>
              ),
            },
            {
              key: "at",
              title: "Since",
              width: "9rem",
              cell: ({ lastTransitionTime }) => <Time at={lastTransitionTime} />,
            },
          ]}
        />
      </Panel>
      <div class="columns">
        <Panel title="Deployed">
          <Facts rows={deployedRows(status)} />
        </Panel>
        <div class="stack">
          <Panel title="Now">
            <Facts
              rows={[
                fact("Replicas", replicaWords(status)),
                fact("Calls so far", countWords(status.invocationCount)),
                fact("Queue", <a href={pageLink.queue(status.queue)}>{status.queue}</a>),
                fact("Generation", String(status.generation)),
                fact("Created", <Time at={status.createdAt} />),
                ...(status.usage === undefined
                  ? []
                  : [
                      fact("Processor", `${status.usage.cpu} m`),
                      fact("Memory", sizeWords(status.usage.totalMemoryBytes)),
                    ]),
              ]}
            />
          </Panel>
          {session.may("Function:List") && (status.secrets ?? []).length > 0 && <UsedSecrets status={status} />}
        </div>
      </div>
    </>
  );
}

/** What was sent, but for what was not. */
function deployedRows(status: FunctionStatus): readonly FactRow[] {
  const { image, envProcess, envVars, labels, annotations, constraints, limits, requests, readOnlyRootFilesystem } =
    deploymentOfStatus(status);
  return [
    fact("Image", <Code text={image} />),
    ...(envProcess === undefined ? [] : [fact("Process", <Code text={envProcess} />)]),
    ...mapRows("Variable", envVars),
    ...mapRows("Label", labels),
    ...mapRows("Annotation", annotations),
    ...mapRows("Limit", limits),
    ...mapRows("Request", requests),
    ...(constraints ?? []).map((text, index) => fact(`Constraint ${index + 1}`, <Code text={text} />)),
    ...(readOnlyRootFilesystem === undefined
      ? []
      : [fact("Root filesystem", readOnlyRootFilesystem ? "Read only" : "Can be written to")]),
  ];
}

function mapRows(what: string, map: Readonly<Record<string, string>> | undefined): readonly FactRow[] {
  return Object.entries(map ?? {}).map(([key, value]) =>
    fact(`${what} ${key}`, <Code text={value === "" ? '""' : value} />),
  );
}
