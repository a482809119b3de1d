package main

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

// reply replies to one call. Change this.
func reply(body []byte) string {
	if len(body) == 0 {
		return "Hello, world!\n"
	}
	return "Hello, " + string(body) + "!\n"
}

func handle(response http.ResponseWriter, request *http.Request) {
	if path := request.URL.Path; path == "/_/ready" || path == "/_/health" {
		io.WriteString(response, "OK\n")
		return
	}
	status := http.StatusOK
	if body, err := io.ReadAll(request.Body); err == nil {
		io.WriteString(response, reply(body))
	} else {
		status = http.StatusBadRequest
		http.Error(response, "Cannot read the body", status)
	}
	log.Println(request.Header.Get("X-Call-Id"), request.Method, request.RequestURI, status)
}

func main() {
	log.SetFlags(0)
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(os.Getenv("HOST"), port))
	if err != nil {
		log.Fatal(err)
	}
	log.Println("listening on port", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: http.HandlerFunc(handle)}
	go server.Serve(listener)

	// Calls that have begun are replied to; then the process ends.
	stop, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	<-stop.Done()
	server.Shutdown(context.Background())
}
