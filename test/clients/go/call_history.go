package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/google/uuid"

	"weir-client-go/weir"
)

// history reads what is known of a queued call, replays it and deletes it.
func history(ctx context.Context, client *weir.ClientWithResponses, id uuid.UUID) {
	called := name + "." + namespace
	item := until("listed", func() *weir.CallSummary {
		page := told(client.ListCallsWithResponse(ctx, &weir.ListCallsParams{Function: &called, State: to("done")}))
		for _, item := range page.JSON200.Items {
			if item.CallId == id {
				return &item
			}
		}
		return nil
	})
	fmt.Println("the history lists the call as", item.State)

	// Its request and lines are kept a moment after its end.
	detail := until("kept", func() *weir.CallDetail {
		detail := told(client.GetCallDetailWithResponse(ctx, id)).JSON200
		if detail.Request.Kept {
			return detail
		}
		return nil
	})
	fmt.Println("the call began when it was", detail.Timeline[0].Kind)
	line := until("logged", func() *weir.CallLogLine {
		for _, line := range records[weir.CallLogLine](told(client.ReadCallLogsWithResponse(ctx, id)).Body) {
			return &line
		}
		return nil
	})
	fmt.Printf("the call wrote %s", line.Text)
	request := told(client.GetCallRequestWithResponse(ctx, id)).JSON200
	fmt.Printf("the request was %s %s\n", request.Method, request.Body)

	replay := told(client.ReplayCallWithResponse(ctx, id, weir.ReplayRequest{Callback: to(false)}))
	record := told(client.GetCallWithResponse(ctx, callId(replay.HTTPResponse), &weir.GetCallParams{Wait: to("30s")}))
	fmt.Println("the replay is", record.JSON200.State)
	fmt.Println("the replay of", id, "names", *record.JSON200.ReplayOf)

	told(client.DeleteCallWithResponse(ctx, id))
	deleted := told(client.GetCallRequestWithResponse(ctx, id))
	fmt.Println("the request after that:", deleted.ApplicationproblemJSON404.Code)

	// Figures come every 10 s.
	counted := until("counted", func() *weir.RollupSeries {
		rollups := told(client.ReadRollupsWithResponse(ctx, &weir.ReadRollupsParams{Function: &called})).JSON200
		for _, count := range rollups.Series[0].Calls {
			if count != nil && *count > 0 {
				return &rollups.Series[0]
			}
		}
		return nil
	})
	fmt.Println("the rollups count calls of", *counted.FunctionName)
}

// until asks until there is an answer; after 30 s the program ends and names `what`.
func until[Found any](what string, ask func() *Found) *Found {
	for range 300 {
		if found := ask(); found != nil {
			return found
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Fatal("it took longer than 30 s until it was ", what)
	return nil
}
