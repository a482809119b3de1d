package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestItIsReady(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(handle))
	defer server.Close()
	response, err := http.Get(server.URL + "/_/ready")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
}

func TestItReplies(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(handle))
	defer server.Close()
	response, err := http.Post(server.URL, "text/plain", strings.NewReader("hi"))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(response.Body); string(body) != "Hello, hi!\n" {
		t.Fatalf("got %q", body)
	}
}
