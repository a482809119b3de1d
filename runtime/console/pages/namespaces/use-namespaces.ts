import { useConsole } from "../../data/console-context.ts";
import { useLoaded, type LoadedSource } from "../../data/requests/use-loaded.ts";

/** The names of all namespaces that one may list, sorted; none where one may list none. */
export function useNamespaces(): LoadedSource<readonly string[]> {
  const { requests, session } = useConsole();
  return useLoaded(`namespaces ${session.may("Namespace:List")}`, async (signal) =>
    session.may("Namespace:List")
      ? requests.get<readonly string[]>("/system/namespaces", { signal, act: "read the namespaces" })
      : [],
  );
}
