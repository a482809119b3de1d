// Calls the functions of the folder above from Go. A message with one text is a StringValue on the wire, so no code is generated.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const service = "/function/greeter/example.Greeter/"

func main() {
	tls, err := credentials.NewClientTLSFromFile(os.Args[2], "")
	must(err)
	conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(tls))
	must(err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	var trailer metadata.MD
	greeting := new(wrapperspb.StringValue)
	must(conn.Invoke(ctx, service+"Greet", wrapperspb.String("Ada"), greeting, grpc.Trailer(&trailer)))
	fmt.Printf("unary: %s, letters: %s\n", greeting.Value, trailer.Get("letters")[0])

	failed := status.Convert(conn.Invoke(ctx, service+"Greet", wrapperspb.String(""), greeting))
	fmt.Printf("error: %s, %s\n", failed.Code(), failed.Message())

	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+"Count")
	must(err)
	must(stream.SendMsg(wrapperspb.String("Ada")))
	must(stream.CloseSend())
	var counted []string
	for {
		err := stream.RecvMsg(greeting)
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
		counted = append(counted, greeting.Value)
	}
	fmt.Printf("stream: %s\n", strings.Join(counted, ", "))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
