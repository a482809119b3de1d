import { useComputed, useSignal } from "@preact/signals";

import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../../../api/schemas/function-status.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useSending } from "../../../data/requests/use-sending.ts";
import { countOf } from "../../../data/words/number-words.ts";
import type { PageProps } from "../../../page-table.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { FunctionFrame } from "../function-frame.tsx";
import { namedOf } from "../named-of.ts";
import { deployCommandLine } from "./deploy-command.ts";
import { DeploymentEditor } from "./deployment-editor.tsx";
import { deploymentOfStatus } from "./deployment-of-status.ts";
import { DifferenceTable } from "./difference-table.tsx";
import { differences } from "./differences.ts";

/** Changes what is deployed: first what would change is shown, then it is sent. */
export function EditPage({ params }: PageProps) {
  return (
    <FunctionFrame named={namedOf(params)} tab="edit">
      {(status, view) => <EditForm status={status} onSent={view.reload} />}
    </FunctionFrame>
  );
}

function EditForm({ status, onSent }: { readonly status: FunctionStatus; readonly onSent: () => void }) {
  const { address, requests, sent } = useConsole();
  const begun = useSignal(status);
  const draft = useSignal<FunctionDeployment>(deploymentOfStatus(status));
  const problem = useSignal<string | undefined>(undefined);
  const { state, send } = useSending();
  const changes = useComputed(() => differences(deploymentOfStatus(begun.value), draft.value));
  const moved = status.generation !== begun.value.generation;
  const count = changes.value.length;
  const off =
    problem.value ?? (count === 0 ? "Nothing is changed yet" : moved ? "It was changed by somebody else" : undefined);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (off !== undefined) return;
        const body = draft.peek();
        void send(() => requests.send("PUT", "/system/functions", { body, act: `change ${status.name}` })).then(
          (done) => {
            if (!done) return;
            sent.say({ what: `${countOf(count, "change")} of ${status.name}`, command: deployCommandLine(body) });
            onSent();
            address.go(pageLink.function(status.namespace, status.name));
          },
        );
      }}
    >
      {moved && (
        <Note tone="warn">
          The function was changed while you edited it (generation {status.generation}; you began from{" "}
          {begun.value.generation}).{" "}
          <Button look="quiet" onClick={() => (begun.value = status)}>
            Compare with what is there now
          </Button>
        </Note>
      )}
      <Panel title="Deployment">
        <DeploymentEditor draft={draft} problem={problem} isNew={false} />
      </Panel>
      <Panel title={count === 0 ? "Nothing changes yet" : `${countOf(count, "change")} to be sent`} bare={count > 0}>
        {count > 0 && <DifferenceTable rows={changes.value} />}
      </Panel>
      {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
      {count > 0 && <SameCommand command={deployCommandLine(draft.value)} />}
      <div class="row-of-buttons">
        <Button type="submit" look="main" busy={state.value.kind === "sending"} off={off}>
          {count === 0 ? "Send" : `Send ${countOf(count, "change")}`}
        </Button>
        <a class="button" href={pageLink.function(status.namespace, status.name)}>
          Cancel
        </a>
      </div>
      <p class="muted">All replicas are replaced one after another, without downtime.</p>
    </form>
  );
}
