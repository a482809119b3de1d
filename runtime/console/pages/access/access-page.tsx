import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import type { WhoAmI } from "../../../api/schemas/iam/access.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { useConsole } from "../../data/console-context.ts";
import { useLoaded } from "../../data/requests/use-loaded.ts";
import { countOf } from "../../data/words/number-words.ts";
import { LoadedView } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { Facts } from "../../parts/texts/sentence.tsx";
import { Code, Shown } from "../../parts/texts/shown.tsx";
import { Time } from "../../parts/texts/time.tsx";
import { SimulateForm } from "./simulate-form.tsx";

/** Who one is, and what anybody may do by the rules in force. */
export function AccessPage() {
  const { requests, session } = useConsole();
  const info = useLoaded("info", (signal) =>
    requests.get<SystemInfo>("/system/info", { signal, act: "read what this platform is" }),
  );
  return (
    <>
      <PageHead title="Access">
        {session.may("System:Audit") && (
          <a class="button" href={pageLink.audit}>
            Audit
          </a>
        )}
      </PageHead>
      <LoadedView state={info.state} what="what this platform is">
        {({ iam, edition }) =>
          iam === undefined ? (
            <Panel>
              <Empty title={`The ${edition} edition has one administrator and no rules`}>
                <p>
                  Issuers, Policies and Roles come with the editions <code>pro</code> and <code>enterprise</code>: the
                  setting <code>edition</code>. Until then whoever has the password may do everything.
                </p>
              </Empty>
            </Panel>
          ) : (
            <>
              <Who />
              {session.may("System:Simulate") && <SimulateForm actions={actionsOf(session.state.value)} />}
              <Panel title="Rules in force">
                <p>
                  {countOf(iam.issuers, "JwtIssuer")}, {countOf(iam.policies, "Policy", "Policies")},{" "}
                  {countOf(iam.roles, "Role")}.{" "}
                  {iam.faults.length > 0 && (
                    <a href={pageLink.system}>{countOf(iam.faults.length, "document")} with faults</a>
                  )}
                </p>
              </Panel>
            </>
          )
        }
      </LoadedView>
    </>
  );
}

function actionsOf(state: ReturnType<typeof useConsole>["session"]["state"]["value"]): readonly string[] {
  return state.kind === "signedIn" ? state.info.actions : [];
}

function Who() {
  const { requests } = useConsole();
  const loaded = useLoaded("who", (signal) =>
    requests.get<WhoAmI>("/system/iam/whoami", { signal, act: "read who you are" }),
  );
  return (
    <Panel title="Who you are">
      <LoadedView state={loaded.state} what="who you are">
        {({ subject, name, issuer, via, administrator, policies, expiresAt }) => (
          <Facts
            rows={[
              ...(name === undefined ? [] : [["Name", <Code key="name" text={name} />] as const]),
              ["Subject", <Code key="subject" text={subject} />],
              ...(issuer === undefined ? [] : [["Issuer", <Code key="issuer" text={issuer} />] as const]),
              ["Known by", via],
              [
                "May do",
                administrator ? (
                  "everything, as the administrator"
                ) : policies.length === 0 ? (
                  "nothing: no Role gives a Policy"
                ) : (
                  <Shown key="policies" text={`what these Policies allow: ${policies.join(", ")}`} />
                ),
              ],
              ...(expiresAt === undefined ? [] : [["Until", <Time key="until" at={expiresAt} />] as const]),
            ]}
          />
        )}
      </LoadedView>
      <SameCommand command="weir whoami" />
    </Panel>
  );
}
