import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { useConsole } from "../../data/console-context.ts";
import { functionKeyOf, type FunctionOfPage } from "../../data/functions/function-of-page.ts";
import { usePendingScale } from "../../data/functions/pending-scale.ts";
import { countOf } from "../../data/words/number-words.ts";
import { commandLine } from "../../data/words/shell-word.ts";
import { Button } from "../../parts/forms/button.tsx";
import { Confirm } from "../../parts/forms/confirm.tsx";
import { Waiting } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Tabs } from "../../parts/layout/tabs.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { FailureNote } from "../../parts/texts/failure-note.tsx";
import { StateBadge } from "../../parts/texts/state-badge.tsx";
import { ScaleDialog } from "./scale-dialog.tsx";
import { useFunctionStatus, type FollowedFunction } from "./use-function-status.ts";

export type FunctionTab = "status" | "edit" | "try" | "logs" | "scaling";

export interface FunctionFrameProps {
  readonly named: FunctionOfPage;
  readonly tab: FunctionTab;
  readonly children: (status: FunctionStatus, view: FollowedFunction) => ComponentChildren;
}

const noDialog = "none";

/** What stands above every page of a function: its name, its pages, and what can be done with it. */
export function FunctionFrame({ named, tab, children }: FunctionFrameProps) {
  const { session } = useConsole();
  const view = useFunctionStatus(named);
  const dialog = useSignal<"scale" | "delete" | typeof noDialog>(noDialog);
  const { name, namespace } = named;
  const status = view.status.value;
  const failure = view.failure.value;
  const since = view.since.value;
  const { pending, begin } = usePendingScale(() => view.status.value?.replicas);
  const close = (): void => void (dialog.value = noDialog);
  const tabs = [
    { title: "Status", at: "status", href: pageLink.function(namespace, name), needs: "Function:Get" },
    { title: "Try", at: "try", href: pageLink.function(namespace, name, "try"), needs: "Function:Get" },
    { title: "Logs", at: "logs", href: pageLink.function(namespace, name, "logs"), needs: "Function:Logs" },
    { title: "Scaling", at: "scaling", href: pageLink.function(namespace, name, "scaling"), needs: "Function:Get" },
    { title: "Edit", at: "edit", href: pageLink.function(namespace, name, "edit"), needs: "Function:Update" },
  ];
  return (
    <>
      <PageHead
        title={name}
        above={
          <>
            <a href={pageLink.overview}>Functions</a> in {namespace}
          </>
        }
      >
        {status !== null && status !== undefined && (
          <>
            {session.may("Call:List") && (
              <a class="button" href={pageLink.calls({ function: functionKeyOf(named) })}>
                Calls
              </a>
            )}
            {session.may("Function:Scale") && <Button onClick={() => (dialog.value = "scale")}>Scale</Button>}
            {session.may("Function:Delete") && (
              <Button look="danger" onClick={() => (dialog.value = "delete")}>
                Delete
              </Button>
            )}
          </>
        )}
      </PageHead>
      <Tabs
        label={`Pages of ${name}`}
        tabs={tabs
          .filter(({ needs }) => session.may(needs))
          .map(({ title, at, href }) => ({ title, href, isHere: at === tab }))}
      />
      {pending.value !== undefined && (
        <StateBadge tone="busy">Scaling to {countOf(pending.value.wanted, "replica")}…</StateBadge>
      )}
      {failure !== undefined && <FailureNote failure={failure} repeats />}
      {status === null && <GoneFunction named={named} />}
      {status === undefined && failure === undefined && since !== undefined && (
        <Waiting since={since} what="the function" />
      )}
      {status !== null && status !== undefined && children(status, view)}
      {dialog.value === "scale" && status !== null && status !== undefined && (
        <ScaleDialog
          named={named}
          replicas={status.replicas}
          onClose={close}
          onSent={(wanted) => begin({ key: functionKeyOf(named), before: status.replicas, wanted })}
        />
      )}
      {dialog.value === "delete" && <DeleteDialog named={named} onClose={close} />}
    </>
  );
}

function DeleteDialog({ named, onClose }: { readonly named: FunctionOfPage; readonly onClose: () => void }) {
  const { address, requests, sent } = useConsole();
  const { name, namespace } = named;
  const command = commandLine(["weir", "delete", functionKeyOf(named), "--yes"]);
  return (
    <Confirm
      title={`Delete ${name}`}
      act="Delete 1 function"
      typed={name}
      command={<SameCommand command={command} />}
      onClose={onClose}
      onConfirm={async () => {
        await requests.send("DELETE", "/system/functions", {
          query: { namespace },
          body: { functionName: name },
          act: `delete ${name}`,
        });
        sent.say({ what: `Delete ${name} in ${namespace}`, command });
        address.go(pageLink.overview);
      }}
    >
      <p>
        Function {name} in {namespace} and its replicas go; running calls end first. Queued calls of it fail, and its
        past calls stay in the history.
      </p>
    </Confirm>
  );
}

function GoneFunction({ named }: { readonly named: FunctionOfPage }) {
  const { session } = useConsole();
  return (
    <Empty title={`There is no function "${named.name}" in "${named.namespace}" (any more)`}>
      <p>
        {session.may("Call:List") && (
          <>
            <a href={pageLink.calls({ function: functionKeyOf(named) })}>Its past calls</a> ·{" "}
          </>
        )}
        <a href={pageLink.overview}>All functions</a>
      </p>
    </Empty>
  );
}
