import { pageLink } from "../../data/address/page-links.ts";
import { useConsole } from "../../data/console-context.ts";
import { gatewayCommand } from "../../data/session/gateway-command.ts";
import { CopyBlock } from "../../parts/texts/copy.tsx";
import { Empty } from "../../parts/texts/empty.tsx";

/** What to do where there is no function yet. */
export function FirstFunction() {
  const { session } = useConsole();
  return (
    <Empty title="There is no function yet">
      {session.may("Function:Create") && (
        <p>
          <a class="button button-main" href={pageLink.newFunction}>
            Deploy a sample
          </a>
        </p>
      )}
      <p>Or write one of your own, in Node.js, Python, Go or a shell:</p>
      <CopyBlock text={gatewayCommand("weir init hello && cd hello && weir up", session.gateway)} />
      <p>Or send one to this gateway:</p>
      <CopyBlock text={sendCommand(session.gateway)} />
    </Empty>
  );
}

/** The first command of the README, for the gateway at this address. */
export function sendCommand(gateway: string): string {
  return `curl -u admin -X PUT ${gateway}/system/functions \\
  -d '{"service":"hello","image":"hello","envProcess":"tr a-z A-Z"}'`;
}
