// Go's run time makes its system calls itself, so that no library can capture them.
package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"syscall"
)

func need(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func tell(name string) {
	all, err := os.ReadFile(name)
	need(err)
	status, err := os.Stat(name)
	need(err)
	sum := fnv.New64a()
	sum.Write(all)
	fmt.Printf("%s: %d bytes of %d, %x\n", name, len(all), status.Size(), sum.Sum64())
}

func main() {
	tell("shared")
	shared, err := os.OpenFile("shared", os.O_WRONLY|os.O_APPEND, 0)
	need(err)
	_, err = shared.WriteString("appended by the program")
	need(err)
	need(shared.Close())

	file, err := os.Create("own")
	need(err)
	for i := 0; i < 3; i++ {
		_, err = file.Write(bytes.Repeat([]byte{byte('a' + i)}, 1<<20))
		need(err)
	}
	_, err = file.WriteAt([]byte("between"), 1<<20-3)
	need(err)
	mapped, err := syscall.Mmap(int(file.Fd()), 0, 1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	need(err)
	fmt.Println(string(mapped[1<<20-3:]))
	copy(mapped[100:], "stored")
	need(syscall.Munmap(mapped))
	need(file.Truncate(2<<20 + 5))
	need(file.Sync())
	need(file.Close())
	tell("own")
	from, err := os.Open("own")
	need(err)
	to, err := os.Create("copy")
	need(err)
	_, err = io.Copy(to, from)
	need(err)
	need(to.Close())
	need(os.Rename("copy", "renamed"))
	tell("renamed")
}
