import { useSignal } from "@preact/signals";

import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import type { SystemInfo } from "../../../../api/schemas/system-info.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { useSending } from "../../../data/requests/use-sending.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { PageHead } from "../../../parts/layout/page-head.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { deployCommandLine } from "./deploy-command.ts";
import { DeploymentEditor } from "./deployment-editor.tsx";
import { withPart } from "./deployment-fields.tsx";
import { sampleFunctions } from "./samples.ts";

/** Where a function is shown that was just deployed. */
function deployedPage({ namespace, service }: FunctionDeployment, home: string): string {
  const known = namespace ?? home;
  return known === "" ? pageLink.overview : pageLink.function(known, service);
}

/** Deploys a function. */
export function NewFunctionPage() {
  const { address, requests, sent, session } = useConsole();
  const draft = useSignal<FunctionDeployment>({ service: "", image: "" });
  const problem = useSignal<string | undefined>(undefined);
  /** Fields keep what is typed in them, so a sample needs new ones. */
  const round = useSignal(0);
  const { state, send } = useSending();
  const info = useLoaded("info", async (signal) =>
    session.may("System:Info") ? requests.get<SystemInfo>("/system/info", { signal }) : undefined,
  );
  const namespaces = useLoaded("namespaces", async (signal) =>
    session.may("Namespace:List") ? requests.get<readonly string[]>("/system/namespaces", { signal }) : [],
  );
  const system = info.state.value.value;
  const home = system?.functionNamespace ?? "";
  const names = namespaces.state.value.value ?? [];
  const { service, image, namespace } = draft.value;
  const off = problem.value ?? (service === "" || image === "" ? "It needs a name and an image" : undefined);
  return (
    <>
      <PageHead title="New function" above={<a href={pageLink.overview}>Functions</a>} />
      {system !== undefined && (
        <Panel title="Begin with a sample">
          <div class="columns">
            {sampleFunctions(system).map(({ title, about, deployment }) => (
              <div key={title} class="sample">
                <Button
                  onClick={() => {
                    draft.value = { ...deployment, ...(namespace === undefined ? {} : { namespace }) };
                    problem.value = undefined;
                    round.value++;
                  }}
                >
                  {title}
                </Button>
                <p class="muted">{about}</p>
              </div>
            ))}
          </div>
        </Panel>
      )}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (off !== undefined) return;
          const body = draft.peek();
          void send(() => requests.send("POST", "/system/functions", { body, act: `deploy ${body.service}` })).then(
            (done) => {
              if (!done) return;
              sent.say({ what: `Deploy ${body.service}`, command: deployCommandLine(body) });
              address.go(deployedPage(body, home));
            },
          );
        }}
      >
        <Panel title="Deployment">
          {names.length > 1 && (
            <SelectField
              label="Namespace"
              value={namespace ?? home}
              choices={names.map((name) => [name, name] as const)}
              onChange={(value) => (draft.value = withPart(draft.peek(), { namespace: value }))}
            />
          )}
          <DeploymentEditor key={round.value} draft={draft} problem={problem} isNew />
        </Panel>
        {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
        {state.value.kind === "failed" && state.value.failure.code === "function_exists" && (
          <p>
            <a href={deployedPage(draft.value, home)}>Show the one that is there</a>
          </p>
        )}
        {off === undefined && <SameCommand command={deployCommandLine(draft.value)} />}
        <div class="row-of-buttons">
          <Button type="submit" look="main" busy={state.value.kind === "sending"} off={off}>
            Deploy
          </Button>
          <a class="button" href={pageLink.overview}>
            Cancel
          </a>
        </div>
      </form>
    </>
  );
}
