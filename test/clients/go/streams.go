package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"weir-client-go/weir"
)

// watch reads the first event of a stream that has no end, so not with `WithResponse`.
func watch(ctx context.Context, client *weir.ClientWithResponses) {
	response, err := client.WatchPlatform(ctx, &weir.WatchPlatformParams{On: to("queues")})
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println("WatchPlatform", response.StatusCode)

	lines := bufio.NewScanner(response.Body)
	field := func(name string) string {
		if !lines.Scan() {
			log.Fatal("the stream ended: ", lines.Err())
		}
		return strings.TrimPrefix(lines.Text(), name+": ")
	}
	event := field("event")
	var hello weir.WatchHello
	if err := json.Unmarshal([]byte(field("data")), &hello); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the stream says %s of API %s\n", event, hello.ApiVersion)
}

// audit finds the record of the function that was created; it is stored a moment after the answer.
func audit(ctx context.Context, client *weir.ClientWithResponses) {
	created := until("audited", func() *weir.AuditRecord {
		params := &weir.ReadAuditParams{Action: to("Function:Create")}
		for _, record := range records[weir.AuditRecord](told(client.ReadAuditWithResponse(ctx, params)).Body) {
			if record.Resource != nil && *record.Resource == namespace+":"+name {
				return &record
			}
		}
		return nil
	})
	fmt.Printf("the audit has %s by %s\n", created.Action, *created.Subject)
}

// records are the JSON objects of a body, one in each line.
func records[Record any](body []byte) []Record {
	var found []Record
	for decoder := json.NewDecoder(bytes.NewReader(body)); ; {
		var record Record
		if err := decoder.Decode(&record); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			log.Fatal(err)
		}
		found = append(found, record)
	}
}
