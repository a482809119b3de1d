// Command weir-client-go calls every operation of the document with the client that oapi-codegen made.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"weir-client-go/weir"
)

const (
	name      = "shout"
	bytesType = "application/octet-stream"
)

// A name that is new: one that was deleted a moment ago may still be taken.
var namespace = "go-" + uuid.NewString()[:8]

// What the generated code answers; its type is named after the operation.
type answer interface{ StatusCode() int }

// told prints what was answered to which operation.
func told[Answer answer](got Answer, err error) Answer {
	if err != nil {
		log.Fatal(err)
	}
	operation := strings.TrimSuffix(reflect.TypeOf(got).Elem().Name(), "Response")
	fmt.Println(operation, got.StatusCode())
	return got
}

func main() {
	log.SetFlags(0)
	password, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	client := open(os.Args[1], os.Args[2], strings.TrimSpace(password))
	ctx := context.Background()
	platform(ctx, client)
	namespaces(ctx, client)
	functions(ctx, client)
	calls(ctx, client)
	queues(ctx, client)
	remove(ctx, client)
	if len(os.Args) > 3 {
		surprises(ctx, open(os.Args[3], "", ""))
	}
}

func open(address, user, password string) *weir.ClientWithResponses {
	client, err := weir.NewClientWithResponses(address, weir.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.SetBasicAuth(user, password)
			// The generated code reads errors as JSON.
			request.Header.Set("Accept", "application/json")
			// It writes slashes of a path parameter as %2F, which reaches the function as it is.
			request.URL.RawPath = strings.ReplaceAll(request.URL.EscapedPath(), "%2F", "/")
			return nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

func platform(ctx context.Context, client *weir.ClientWithResponses) {
	told(client.GetInfoWithResponse(ctx))
	told(client.GetHealthWithResponse(ctx))
	told(client.GetOpenApiJsonWithResponse(ctx))
	told(client.GetOpenApiYamlWithResponse(ctx))
	page, _, _ := strings.Cut(string(told(client.GetStartPageWithResponse(ctx)).Body), "\n")
	fmt.Println("the page begins with", page)
	fmt.Println("the doctor sees the", told(client.GetDoctorReportWithResponse(ctx)).JSON200.Parts[0].Part)
	fmt.Println("callbacks are signed with", told(client.GetCallbackKeysWithResponse(ctx)).JSON200.Keys[0].Kty)
	watch(ctx, client)
	told(client.GetOpenIdConfigurationWithResponse(ctx))
	told(client.GetKeysWithResponse(ctx))
	told(client.ExchangeTokenWithFormdataBodyWithResponse(ctx, weir.TokenRequest{
		GrantType:        "urn:ietf:params:oauth:grant-type:token-exchange",
		SubjectToken:     "e30.e30.c2ln",
		SubjectTokenType: "urn:ietf:params:oauth:token-type:jwt",
	}))
	fmt.Println("the user is", told(client.WhoAmIWithResponse(ctx)).JSON200.Subject)
	decision := told(client.SimulateAccessWithResponse(ctx, weir.SimulateRequest{
		Action:   "Function:Delete",
		Resource: namespace + ":" + name,
	}))
	fmt.Println("a deletion is allowed by the", *decision.JSON200.Role)
}

func namespaces(ctx context.Context, client *weir.ClientWithResponses) {
	own := weir.FunctionNamespace{Name: namespace, Labels: &weir.Labels{"team": "blue"}}
	other := weir.FunctionNamespace{Name: namespace + "-2"}
	told(client.CreateNamespaceWithResponse(ctx, own))
	told(client.ReplaceNamespaceWithResponse(ctx, own))
	told(client.GetNamespaceWithResponse(ctx, namespace))
	told(client.ListNamespacesWithResponse(ctx))
	told(client.CreateNamespaceByNameWithResponse(ctx, other.Name, other))
	told(client.ReplaceNamespaceByNameWithResponse(ctx, other.Name, other))
	told(client.DeleteNamespaceByNameWithResponse(ctx, other.Name, other))

	secret := weir.Secret{Name: "api-key", Namespace: to(namespace), Value: to("s3cret")}
	told(client.CreateSecretWithResponse(ctx, secret))
	told(client.ReplaceSecretWithResponse(ctx, secret))
	told(client.ListSecretsWithResponse(ctx, &weir.ListSecretsParams{Namespace: to(namespace)}))
}

func functions(ctx context.Context, client *weir.ClientWithResponses) {
	deployment := weir.FunctionDeployment{
		Service:    name,
		Image:      "shout:1",
		Namespace:  to(namespace),
		EnvProcess: to(`sh -c 'echo called >&2; echo "$Http_Path?$Http_Query"'`),
		Secrets:    &[]string{"api-key"},
		Labels:     &weir.Labels{"team": "blue"},
		// The history keeps requests only of functions that ask for it.
		Annotations: &weir.Annotations{"com.service.history.bodies": "1h"},
	}
	told(client.CreateFunctionWithResponse(ctx, &weir.CreateFunctionParams{}, deployment))
	told(client.ReplaceFunctionWithResponse(ctx, &weir.ReplaceFunctionParams{}, deployment))
	told(client.ListFunctionsWithResponse(ctx, &weir.ListFunctionsParams{Namespace: to(namespace)}))
	told(client.GetFunctionWithResponse(ctx, name, &weir.GetFunctionParams{Namespace: to(namespace), Usage: to(true)}))
	scale := weir.ScaleServiceRequest{Replicas: 1}
	told(client.ScaleFunctionWithResponse(ctx, name, &weir.ScaleFunctionParams{Namespace: to(namespace)}, scale))
	told(client.ReceiveAlertWithResponse(ctx, weir.AlertNotification{Alerts: []weir.Alert{{
		Status: "resolved",
		Labels: weir.AlertLabels{FunctionName: name + "." + namespace},
	}}}))
	audit(ctx, client)
}

func calls(ctx context.Context, client *weir.ClientWithResponses) {
	called := name + "." + namespace
	query := &weir.QueryParameters{"x": "1"}
	told(client.CallFunctionWithBodyWithResponse(ctx, called, &weir.CallFunctionParams{}, bytesType, body()))
	nested := told(client.CallFunctionAtPathWithBodyWithResponse(
		ctx, called, "a/b", &weir.CallFunctionAtPathParams{Query: query}, bytesType, body()))
	fmt.Printf("the function got %s", nested.Body)

	queued := told(client.QueueCallWithBodyWithResponse(ctx, called, &weir.QueueCallParams{}, bytesType, body()))
	id := callId(queued.HTTPResponse)
	record := told(client.GetCallWithResponse(ctx, id, &weir.GetCallParams{Wait: to("30s")}))
	fmt.Println("the call is", record.JSON200.State)
	told(client.GetCallResultWithResponse(ctx, id))
	told(client.CancelCallWithResponse(ctx, id))
	told(client.CancelCallOfFunctionWithResponse(ctx, called, id))
	told(client.QueueCallAtPathWithBodyWithResponse(
		ctx, called, "a/b", &weir.QueueCallAtPathParams{Query: query}, bytesType, body()))

	logs := told(client.ReadLogsWithResponse(ctx, &weir.ReadLogsParams{Name: name, Namespace: to(namespace), Tail: to(1)}))
	fmt.Printf("the function wrote %s", records[weir.LogRecord](logs.Body)[0].Text)
	history(ctx, client, id)
}

// callId is the id of the call that a response tells.
func callId(response *http.Response) uuid.UUID {
	id, err := uuid.Parse(response.Header.Get("X-Call-Id"))
	if err != nil {
		log.Fatal(err)
	}
	return id
}

func queues(ctx context.Context, client *weir.ClientWithResponses) {
	unknown := uuid.New()
	told(client.ListQueuesWithResponse(ctx))
	told(client.GetQueueWithResponse(ctx, "default"))
	told(client.ListDeadLettersWithResponse(ctx, "default", &weir.ListDeadLettersParams{}))
	told(client.RedriveDeadLetterWithResponse(ctx, "default", unknown))
	told(client.DeleteDeadLetterWithResponse(ctx, "default", unknown))
}

func remove(ctx context.Context, client *weir.ClientWithResponses) {
	told(client.DeleteFunctionWithResponse(ctx, &weir.DeleteFunctionParams{},
		weir.DeleteFunctionRequest{FunctionName: name, Namespace: to(namespace)}))
	told(client.DeleteSecretWithResponse(ctx, &weir.DeleteSecretParams{},
		weir.SecretReference{Name: "api-key", Namespace: to(namespace)}))
	told(client.DeleteNamespaceWithResponse(ctx, weir.FunctionNamespace{Name: namespace}))
	gone := told(client.GetFunctionWithResponse(ctx, name, &weir.GetFunctionParams{Namespace: to(namespace)}))
	fmt.Println("afterwards:", gone.ApplicationproblemJSON404.Code)
}

// surprises asks a server that is newer than the document, with a function that answers 404.
func surprises(ctx context.Context, client *weir.ClientWithResponses) {
	refused := told(client.GetFunctionWithResponse(ctx, name, &weir.GetFunctionParams{}))
	fmt.Println("new code:", refused.ApplicationproblemJSON404.Code)
	record := told(client.GetCallWithResponse(ctx, uuid.New(), &weir.GetCallParams{}))
	fmt.Println("new state:", record.JSON200.State)
	own := told(client.CallFunctionWithBodyWithResponse(ctx, name, &weir.CallFunctionParams{}, bytesType, body()))
	fmt.Printf("own error: %s\n", own.Body)
}

func body() io.Reader { return strings.NewReader("hello") }

func to[Value any](value Value) *Value { return &value }
