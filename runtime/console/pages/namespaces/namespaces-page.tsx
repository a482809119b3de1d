import { useSignal } from "@preact/signals";

import { pageLink } from "../../data/address/page-links.ts";
import { useConsole } from "../../data/console-context.ts";
import { Button } from "../../parts/forms/button.tsx";
import { LoadedView } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import type { TableColumn } from "../../parts/tables/column.ts";
import { VirtualTable } from "../../parts/tables/virtual-table.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { Name } from "../../parts/texts/shown.tsx";
import { DeleteNamespace } from "./delete-namespace.tsx";
import { NamespaceDialog } from "./namespace-dialog.tsx";
import { useNamespaces } from "./use-namespaces.ts";

/** The namespaces that functions are in. */
export function NamespacesPage() {
  const { sent, session } = useConsole();
  const namespaces = useNamespaces(true);
  /** Name of the one that is edited; empty: a new one. */
  const edited = useSignal<string | undefined>(undefined);
  const deleted = useSignal<string | undefined>(undefined);
  const tell = (what: string, command: string): void => {
    sent.say({ what, command });
    namespaces.reload();
  };
  const columns: readonly TableColumn<string>[] = [
    {
      key: "name",
      title: "Namespace",
      narrow: "title",
      cell: (name) => (
        <a class="row-link" href={`${pageLink.overview}?${new URLSearchParams({ namespace: name }).toString()}`}>
          <Name text={name} />
        </a>
      ),
    },
    {
      key: "secrets",
      title: "Secrets",
      width: "8rem",
      narrow: "hide",
      cell: (name) =>
        session.may("Secret:List") && (
          <a href={`${pageLink.secrets}?${new URLSearchParams({ namespace: name }).toString()}`}>Its secrets</a>
        ),
    },
    {
      key: "acts",
      title: "Change",
      hideTitle: true,
      width: "16rem",
      align: "end",
      cell: (name) => (
        <span class="row-of-buttons row-acts">
          {session.may("Namespace:Update") && (
            <Button look="quiet" label={`Edit labels of ${name}`} onClick={() => (edited.value = name)}>
              Edit labels
            </Button>
          )}
          {session.may("Namespace:Delete") && (
            <Button look="quiet" label={`Delete ${name}`} onClick={() => (deleted.value = name)}>
              Delete
            </Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title="Namespaces">
        {session.may("Namespace:Create") && (
          <Button look="main" onClick={() => (edited.value = "")}>
            New namespace
          </Button>
        )}
      </PageHead>
      <Panel bare>
        <LoadedView state={namespaces.state} what="the namespaces">
          {(names) =>
            names.length === 0 ? (
              <Empty title="No namespace">
                <p>There is none that you may list.</p>
              </Empty>
            ) : (
              <VirtualTable label="Namespaces" columns={columns} rows={names} keyOf={(name) => name} />
            )
          }
        </LoadedView>
      </Panel>
      <SameCommand command="weir namespaces list" />
      {edited.value !== undefined && (
        <NamespaceDialog name={edited.value} onDone={tell} onClose={() => (edited.value = undefined)} />
      )}
      {deleted.value !== undefined && (
        <DeleteNamespace name={deleted.value} onDone={tell} onClose={() => (deleted.value = undefined)} />
      )}
    </>
  );
}
