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
import { AccessFault, AccessInfo, ProviderInfo, SystemInfo, VersionInfo } from "./system-info.ts";
import { Annotations, Labels } from "./text-map.ts";
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
  Condition,
  DeadLetterView,
  DeadLetterPage,
  DeleteFunctionRequest,
  DoctorReport,
  EnvironmentVariables,
  Finding,
  FunctionAnnotations,
  FunctionDeployment,
  FunctionLabels,
  FunctionNamespaceBody,
  FunctionStatus,
  FunctionStatusUsage,
  HistoryGapView,
  HistoryStatus,
  JsonWebKey,
  JsonWebKeySet,
  KeptLines,
  KeptRequest,
  Labels,
  LogRecord,
  MissingRight,
  OpenApiDocument,
  OpenIdConfiguration,
  PlatformPart,
  ProblemDetails,
  ProviderInfo,
  QueryParameters,
  QueueStatus,
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
  SystemInfo,
  SignInIssuer,
  StderrTail,
  TimelineStep,
  TokenError,
  TokenReply,
  TokenRequest,
  VersionInfo,
  WhoAmI,
];
