// A call of what its module offers: its own program is in a module that cannot be required beside the others.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
