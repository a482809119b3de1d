// A reverse proxy of Go's own library on one core, as a peer of the gateway. Argument: the function's address.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"sync"
)

// buffers lends the proxy what it copies bodies through, so that no call makes its own.
type buffers struct{ sync.Pool }

func (b *buffers) Get() []byte  { return *b.Pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.Pool.Put(&p) }

func main() {
	runtime.GOMAXPROCS(1)
	target := &url.URL{Scheme: "http", Host: os.Args[1]}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.SetXForwarded() },
		// No connection is closed for want of a place, and no body is compressed or unpacked on the way.
		Transport:  &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024, DisableCompression: true},
		BufferPool: &buffers{sync.Pool{New: func() any { p := make([]byte, 32<<10); return &p }}},
		// The load hangs up on its last calls; of all others it counts what is not answered well.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, proxy))
}
