import { describe } from "vitest";

import { findTool } from "../../scripts/debian-tool.ts";
import { say } from "../support/say.ts";
import { walkGrpc } from "../support/walk-grpc.ts";

const go = findTool("go");
if (go === undefined) say('Skipped: the client of docs/reference/http2-and-grpc.md in Go; "go" is missing');

describe.skipIf(go === undefined)("with the client in Go, which takes minutes to build", () => {
  walkGrpc({ withGo: true });
});
