import { describe } from "vitest";

import { RawUpstream } from "../../runtime/adapters/http/upstream/raw/raw-upstream.ts";
import { UndiciUpstream } from "../../runtime/adapters/http/upstream/undici-upstream.ts";
import { upstreamContract } from "../contract/upstream.contract.ts";

describe("RawUpstream", () => upstreamContract(() => new RawUpstream(1_000)));
describe("UndiciUpstream", () => upstreamContract(() => new UndiciUpstream()));
