// The same as steps.c, by Go, whose programs make system calls without a C library.
package main

import (
	"log"
	"os"
	"strconv"
	"time"
)

func number(word string) int {
	value, err := strconv.Atoi(word)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	steps, mebibytes, milliseconds := number(os.Args[2]), number(os.Args[3]), number(os.Args[4])
	buffer := make([]byte, 1<<20)
	for at := range buffer {
		buffer[at] = 'x'
	}
	for step := 0; step < steps; step++ {
		file, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			log.Fatal(err)
		}
		for call := 0; call < mebibytes; call++ {
			if _, err := file.Write(buffer); err != nil {
				log.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			log.Fatal(err)
		}
		if step+1 < steps {
			time.Sleep(time.Duration(milliseconds) * time.Millisecond)
		}
	}
}
