import { walkGrpc } from "../support/walk-grpc.ts";

walkGrpc({ withGo: false });
