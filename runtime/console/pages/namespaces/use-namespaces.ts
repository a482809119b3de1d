import { useConsole } from "../../data/console-context.ts";
import { useLoaded, type LoadedSource } from "../../data/requests/use-loaded.ts";

/** The names of all namespaces that one may list, sorted; none, and nobody is asked, unless `asks`. */
export function useNamespaces(asks: boolean): LoadedSource<readonly string[]> {
  const { requests } = useConsole();
  return useLoaded(`namespaces ${asks}`, async (signal) =>
    asks ? requests.get<readonly string[]>("/system/namespaces", { signal, act: "read the namespaces" }) : [],
  );
}
