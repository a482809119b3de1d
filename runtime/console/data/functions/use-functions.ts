import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { FunctionsEvent } from "../../../api/schemas/watch/watch-topics.ts";
import { useConsole } from "../console-context.ts";
import type { Requests } from "../requests/requests.ts";
import { useTopic } from "../stream/use-topic.ts";
import { ListedFunctions } from "./listed-functions.ts";
import { listedOfStatus } from "./state-of-status.ts";

/** All functions that one may see, live. `fault`: why they cannot be shown for now. */
export function useFunctions(): { readonly functions: ListedFunctions; readonly fault: ReadonlySignal<string> } {
  const { requests, session } = useConsole();
  const functions = useMemo(() => new ListedFunctions(), []);
  const fault = useSignal("");
  useTopic(session.may("Function:List") ? "functions" : undefined, {
    event: (_name, data) => {
      fault.value = "";
      functions.take(data as FunctionsEvent);
    },
    fault: (_code, sentence) => void (fault.value = sentence),
    poll: async (signal) => {
      const all = await listAll(requests, session.may("Namespace:List"), signal);
      functions.replace(all.map(listedOfStatus));
    },
  });
  return { functions, fault };
}

/** Functions of all namespaces; of the default one for who may list no namespaces. */
async function listAll(
  requests: Requests,
  knowsNamespaces: boolean,
  signal: AbortSignal,
): Promise<readonly FunctionStatus[]> {
  const namespaces: readonly (string | undefined)[] = knowsNamespaces
    ? await requests.get<readonly string[]>("/system/namespaces", { signal })
    : [undefined];
  const lists = await Promise.all(
    namespaces.map((namespace) =>
      requests.get<readonly FunctionStatus[]>("/system/functions", { query: { namespace }, signal }),
    ),
  );
  return lists.flat();
}
