// A function that takes bodies of 1 MiB and answers each, once it has all of it, with 1 MiB. It spares itself what a
// function may: the kernel drops what comes without copying it, and sends what goes from a file that it has in memory.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"runtime"
	"syscall"
)

const mebibyte = 1 << 20

var (
	head    = []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", mebibyte))
	headEnd = []byte("\r\n\r\n")
)

func main() {
	runtime.GOMAXPROCS(1)
	name, err := writeBody()
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(connection.(*net.TCPConn), name)
	}
}

// writeBody writes the file that is sent beside the program, so that it goes with it.
func writeBody() (string, error) {
	name := os.Args[0] + ".body"
	return name, os.WriteFile(name, bytes.Repeat([]byte("x"), mebibyte), 0o600)
}

// serve answers one call after the other until the connection ends.
func serve(connection *net.TCPConn, name string) {
	defer connection.Close()
	body, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer body.Close()
	raw, err := connection.SyscallConn()
	if err != nil {
		return
	}
	for {
		left, err := readHead(connection)
		for err == nil && left > 0 {
			left, err = drop(raw, left)
		}
		if err != nil {
			return
		}
		if _, err := connection.Write(head); err != nil {
			return
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return
		}
		if _, err := connection.ReadFrom(body); err != nil {
			return
		}
	}
}

// readHead reads the head of a call and returns how much of its body is still to come.
func readHead(connection *net.TCPConn) (int, error) {
	piece := make([]byte, 4096)
	for used := 0; used < len(piece); {
		n, err := connection.Read(piece[used:])
		if err != nil {
			return 0, err
		}
		used += n
		if end := bytes.Index(piece[:used], headEnd); end >= 0 {
			return mebibyte - (used - end - len(headEnd)), nil
		}
	}
	return 0, errors.New("the head is too long")
}

var scratch = make([]byte, mebibyte)

// drop takes at most left bytes off the connection and returns how many are still to come.
func drop(raw syscall.RawConn, left int) (int, error) {
	n, failure := 0, error(nil)
	err := raw.Read(func(fd uintptr) bool {
		n, _, failure = syscall.Recvfrom(int(fd), scratch[:left], syscall.MSG_TRUNC)
		return failure != syscall.EAGAIN
	})
	if err = errors.Join(err, failure); err == nil && n == 0 {
		err = io.EOF
	}
	return left - n, err
}
