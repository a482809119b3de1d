import { useSignal } from "@preact/signals";

import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { SecretListItem } from "../../../api/schemas/secret.ts";
import { useNarrowing } from "../../data/address/use-narrowing.ts";
import { useConsole } from "../../data/console-context.ts";
import { useLoaded } from "../../data/requests/use-loaded.ts";
import { countOf } from "../../data/words/number-words.ts";
import { commandLine } from "../../data/words/shell-word.ts";
import { Button } from "../../parts/forms/button.tsx";
import { Confirm } from "../../parts/forms/confirm.tsx";
import { LoadedView } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import type { TableColumn } from "../../parts/tables/column.ts";
import { VirtualTable } from "../../parts/tables/virtual-table.tsx";
import { CopyBlock, SameCommand } from "../../parts/texts/copy.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { Name } from "../../parts/texts/shown.tsx";
import { NarrowField } from "../calls/list/call-filters.tsx";
import { NamespaceField } from "../namespaces/namespace-field.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { UsersOfSecret } from "./users-of-secret.tsx";

/** A secret, and who uses it; undefined = that may not be seen, or was not read yet. */
interface SecretRow extends SecretListItem {
  readonly users: readonly string[] | undefined;
}

/** The secrets of a namespace by name, and the functions that use each; values are never shown. */
export function SecretsPage() {
  const { requests, sent, session } = useConsole();
  const [namespace, chooseNamespace] = useNarrowing("namespace");
  const [text] = useNarrowing("text");
  /** The one that gets another value; `new`: one is made. */
  const edited = useSignal<SecretListItem | "new" | undefined>(undefined);
  const deleted = useSignal<SecretRow | undefined>(undefined);
  const mayList = session.may("Function:List");
  const query = { namespace: namespace.value === "" ? undefined : namespace.value };
  const loaded = useLoaded(`secrets of ${namespace.value}`, (signal) =>
    requests.get<readonly SecretListItem[]>("/system/secrets", { query, signal, act: "read the secrets" }),
  );
  // Read by themselves: the list of secrets is there when that of functions is not.
  const users = useLoaded(`users of secrets of ${namespace.value}, ${mayList}`, async (signal) =>
    mayList
      ? requests.get<readonly FunctionStatus[]>("/system/functions", { query, signal, act: "read who uses secrets" })
      : undefined,
  );
  const tell = (what: string, command: string): void => {
    sent.say({ what, command });
    loaded.reload();
    users.reload();
  };
  const columns: readonly TableColumn<SecretRow>[] = [
    {
      key: "name",
      title: "Secret",
      width: "minmax(0, 1.2fr)",
      narrow: "title",
      cell: ({ name }) => <Name text={name} />,
    },
    {
      key: "users",
      title: "Used by",
      width: "minmax(0, 2fr)",
      cell: ({ users: names, namespace: of }) => (
        <UsersOfSecret namespace={of} users={names} mayList={mayList} failure={users.state.value.failure} />
      ),
    },
    {
      key: "acts",
      title: "Change",
      hideTitle: true,
      width: "13rem",
      align: "end",
      cell: (row) => (
        <span class="row-of-buttons row-acts">
          {session.may("Secret:Update") && (
            <Button look="quiet" label={`Replace ${row.name}`} onClick={() => (edited.value = row)}>
              Replace
            </Button>
          )}
          {session.may("Secret:Delete") && (
            <Button look="quiet" label={`Delete ${row.name}`} onClick={() => (deleted.value = row)}>
              Delete
            </Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title="Secrets">
        {session.may("Secret:Create") && (
          <Button look="main" onClick={() => (edited.value = "new")}>
            New secret
          </Button>
        )}
      </PageHead>
      <search class="filters">
        <NarrowField name="text" label="Name" isSearch />
        <NamespaceField value={namespace.value} onChange={chooseNamespace} />
      </search>
      <Panel bare>
        <LoadedView state={loaded.state} what="the secrets">
          {(secrets) => {
            const rows = secrets.map((secret) => ({ ...secret, users: usersOf(secret.name, users.state.value.value) }));
            const shown = rows.filter(({ name }) => name.includes(text.value));
            if (secrets.length === 0) return <NoSecret />;
            if (shown.length === 0) return <Empty title={`No secret has "${text.value}" in its name`} />;
            return <VirtualTable label="Secrets" columns={columns} rows={shown} keyOf={({ name }) => name} />;
          }}
        </LoadedView>
      </Panel>
      <SameCommand command={commandLine(["weir", "secrets", "list", ...inNamespace(namespace.value)])} />
      {edited.value !== undefined && (
        <SecretDialog
          secret={edited.value === "new" ? undefined : edited.value}
          namespace={namespace.value}
          onDone={tell}
          onClose={() => (edited.value = undefined)}
        />
      )}
      {deleted.value !== undefined && (
        <DeleteSecret secret={deleted.value} onDone={tell} onClose={() => (deleted.value = undefined)} />
      )}
    </>
  );
}

function NoSecret() {
  return (
    <Empty title="No secret in this namespace">
      <p>Functions read a secret as a file of its name. This stores one:</p>
      <CopyBlock text="weir secrets create api-key --from-file key.txt" />
    </Empty>
  );
}

interface DeleteSecretProps {
  readonly secret: SecretRow;
  readonly onDone: (what: string, command: string) => void;
  readonly onClose: () => void;
}

function DeleteSecret({ secret: { name, namespace, users }, onDone, onClose }: DeleteSecretProps) {
  const { requests } = useConsole();
  const command = commandLine(["weir", "secrets", "delete", name, "-n", namespace, "--yes"]);
  return (
    <Confirm
      title={`Delete secret ${name}`}
      act="Delete 1 secret"
      command={<SameCommand command={command} />}
      onConfirm={async () => {
        await requests.send("DELETE", "/system/secrets", { body: { name, namespace }, act: `delete secret "${name}"` });
        onDone(`Delete secret ${name}`, command);
      }}
      onClose={onClose}
    >
      <p>
        {users === undefined || users.length === 0
          ? "Its value is gone for good."
          : `${countOf(users.length, "function")} of this namespace ${users.length === 1 ? "uses" : "use"} it, and will be stalled at the next update: ${users.join(", ")}.`}
      </p>
    </Confirm>
  );
}

/** Options that name a namespace; empty = the default one. */
function inNamespace(namespace: string): readonly string[] {
  return namespace === "" ? [] : ["-n", namespace];
}

function usersOf(secret: string, functions: readonly FunctionStatus[] | undefined): readonly string[] | undefined {
  return functions?.filter(({ secrets }) => secrets?.includes(secret) === true).map(({ name }) => name);
}
