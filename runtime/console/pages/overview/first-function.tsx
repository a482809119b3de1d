import { pageLink } from "../../data/address/page-links.ts";
import { useConsole } from "../../data/console-context.ts";
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
      <CopyBlock text={"weir init hello && cd hello && weir up"} />
      <p>Or send one to this gateway:</p>
      <CopyBlock text={sendCommand(location.hostname)} />
    </Empty>
  );
}

/** The first command of the README, for the gateway beside this console. */
export function sendCommand(host: string): string {
  return `curl -u admin -X PUT http://${host}:8080/system/functions \\
  -d '{"service":"hello","image":"hello","envProcess":"tr a-z A-Z"}'`;
}
