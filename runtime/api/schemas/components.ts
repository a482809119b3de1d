import type { TSchema } from "typebox";

import { MissingRight, SimulateReply, SimulateRequest, SubjectClaims, WhoAmI } from "./iam/access.ts";
import { AuditRecord, AuditStatement } from "./iam/audit.ts";
import { Alert, AlertLabels, AlertNotification } from "./alert.ts";
import {
  CallRecordAttempt,
  CallRecordCallback,
  CallRecordCallbackTry,
  CallRecordPrincipal,
  CallRecord,
  CallResult,
} from "./call-record.ts";
import { CallAttemptDetail, StderrTail } from "./history/call-attempt-detail.ts";
import { CallLogLine } from "./history/call-log-line.ts";
import { CallActions, CallDetail, KeptLines, KeptRequest } from "./history/call-detail.ts";
import { CallPageView, CallTotal, HistoryGapView, HistoryStatus } from "./history/call-page.ts";
import { CallRequest, ReplayRequest } from "./history/call-request.ts";
import { CallSummary } from "./history/call-summary.ts";
import { RollupSeriesView, Rollups, ScalingView } from "./history/rollups.ts";
import { TimelineStep } from "./history/timeline-step.ts";
import { CallDetailEvent, CallsEvent } from "./history/watched-calls.ts";
import {
  DeleteFunctionRequest,
  EnvironmentVariables,
  FunctionDeployment,
  Resources,
  ScaleServiceRequest,
} from "./function-deployment.ts";
import { FunctionNamespaceBody } from "./function-namespace.ts";
import {
  Condition,
  FunctionAnnotations,
  FunctionLabels,
  FunctionStatus,
  FunctionStatusUsage,
} from "./function-status.ts";
import { DoctorReport, Finding, PlatformPart } from "./doctor-report.ts";
import { LogRecord } from "./log-record.ts";
import { OpenApiDocument } from "./openapi-document.ts";
import { ProblemDetails } from "./problem-details.ts";
import { QueryParameters } from "./query-parameters.ts";
import { DeadLetterView, DeadLetterPage, QueueStatus } from "./queue-status.ts";
import { Secret, SecretListItem, SecretReference } from "./secret.ts";
import { AccessFault, AccessInfo, ProviderInfo, SetAsidePart, SystemInfo, VersionInfo } from "./system-info.ts";
import { Annotations, Labels } from "./text-map.ts";
import { FunctionRow } from "./watch/function-row.ts";
import { WatchBye, WatchFault, WatchHello } from "./watch/watch-signals.ts";
import { DoctorEvent, FunctionEvent, FunctionsEvent, LogEvent, QueuesEvent } from "./watch/watch-topics.ts";
import { EndedSessions, EndSessionsRequest, OpenSession } from "./iam/session.ts";
import { SignInIssuer } from "./iam/sign-in.ts";
import { JsonWebKey, JsonWebKeySet, OpenIdConfiguration, TokenError, TokenReply, TokenRequest } from "./iam/token.ts";

/** The schemas that the OpenAPI document, and clients generated from it, name by their title. */
export const components: readonly TSchema[] = [
  AccessFault,
  AccessInfo,
  Alert,
  AlertLabels,
  AlertNotification,
  Annotations,
  AuditRecord,
  AuditStatement,
  CallActions,
  CallAttemptDetail,
  CallDetail,
  CallDetailEvent,
  CallLogLine,
  CallPageView,
  CallRecordAttempt,
  CallRecordCallback,
  CallRecordCallbackTry,
  CallRecordPrincipal,
  CallRecord,
  CallRequest,
  CallResult,
  CallSummary,
  CallTotal,
  CallsEvent,
  Condition,
  DeadLetterView,
  DeadLetterPage,
  DeleteFunctionRequest,
  DoctorEvent,
  DoctorReport,
  EndedSessions,
  EndSessionsRequest,
  EnvironmentVariables,
  Finding,
  FunctionAnnotations,
  FunctionDeployment,
  FunctionEvent,
  FunctionLabels,
  FunctionNamespaceBody,
  FunctionRow,
  FunctionStatus,
  FunctionStatusUsage,
  FunctionsEvent,
  HistoryGapView,
  HistoryStatus,
  JsonWebKey,
  JsonWebKeySet,
  KeptLines,
  KeptRequest,
  Labels,
  LogEvent,
  LogRecord,
  MissingRight,
  OpenApiDocument,
  OpenSession,
  OpenIdConfiguration,
  PlatformPart,
  ProblemDetails,
  ProviderInfo,
  QueryParameters,
  QueueStatus,
  QueuesEvent,
  ReplayRequest,
  Resources,
  RollupSeriesView,
  Rollups,
  ScalingView,
  ScaleServiceRequest,
  Secret,
  SecretListItem,
  SecretReference,
  SimulateReply,
  SimulateRequest,
  SubjectClaims,
  SetAsidePart,
  SystemInfo,
  SignInIssuer,
  StderrTail,
  TimelineStep,
  TokenError,
  TokenReply,
  TokenRequest,
  VersionInfo,
  WatchBye,
  WatchFault,
  WatchHello,
  WhoAmI,
];
