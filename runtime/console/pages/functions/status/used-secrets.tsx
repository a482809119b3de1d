import type { FunctionStatus } from "../../../../api/schemas/function-status.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { LoadedView } from "../../../parts/layout/loaded-view.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { Facts } from "../../../parts/texts/sentence.tsx";

/** The secrets that a function gets as files, and who else uses them. */
export function UsedSecrets({ status }: { readonly status: FunctionStatus }) {
  const { requests } = useConsole();
  const { name, namespace, secrets = [] } = status;
  const others = useLoaded(namespace, (signal) =>
    requests.get<readonly FunctionStatus[]>("/system/functions", {
      query: { namespace },
      signal,
      act: "find who uses the secrets",
    }),
  );
  return (
    <Panel title="Secrets" aside={<a href={pageLink.secrets}>All secrets</a>}>
      <LoadedView state={others.state} what="the other functions">
        {(functions) => (
          <Facts
            rows={secrets.map((secret) => [
              secret,
              usersOf(secret, functions)
                .filter((user) => user !== name)
                .map((user, index) => (
                  <span key={user}>
                    {index > 0 && ", "}
                    <a href={pageLink.function(namespace, user)}>{user}</a>
                  </span>
                ))
                .concat(usersOf(secret, functions).length > 1 ? [] : [<span key="none">Nobody else uses it</span>]),
            ])}
          />
        )}
      </LoadedView>
    </Panel>
  );
}

/** The functions that get a secret, by name. */
export function usersOf(secret: string, functions: readonly FunctionStatus[]): readonly string[] {
  return functions.filter(({ secrets }) => secrets?.includes(secret) === true).map(({ name }) => name);
}
