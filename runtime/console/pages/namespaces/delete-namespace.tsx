import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { useConsole } from "../../data/console-context.ts";
import { useLoaded } from "../../data/requests/use-loaded.ts";
import { countOf } from "../../data/words/number-words.ts";
import { commandLine } from "../../data/words/shell-word.ts";
import { Confirm } from "../../parts/forms/confirm.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";

export interface DeleteNamespaceProps {
  readonly name: string;
  readonly onDone: (what: string, command: string) => void;
  readonly onClose: () => void;
}

/** Asks before a namespace is deleted with everything in it. */
export function DeleteNamespace({ name, onDone, onClose }: DeleteNamespaceProps) {
  const { requests, session } = useConsole();
  const functions = useLoaded(`functions of ${name}`, async (signal) =>
    session.may("Function:List")
      ? requests.get<readonly FunctionStatus[]>("/system/functions", { query: { namespace: name }, signal })
      : undefined,
  );
  const count = functions.state.value.value?.length;
  const command = commandLine(["weir", "namespaces", "delete", name, "--yes"]);
  return (
    <Confirm
      title={`Delete namespace ${name}`}
      act={count === undefined ? "Delete the namespace" : `Delete it with ${countOf(count, "function")}`}
      typed={name}
      command={<SameCommand command={command} />}
      onConfirm={async () => {
        await requests.send("DELETE", `/system/namespace/${encodeURIComponent(name)}`, {
          body: { name },
          act: `delete namespace "${name}"`,
        });
        onDone(`Delete namespace ${name}`, command);
      }}
      onClose={onClose}
    >
      <p>
        Everything in it goes: {count === undefined ? "its functions" : countOf(count, "function")}, its secrets, and
        its queued calls fail.
      </p>
    </Confirm>
  );
}
