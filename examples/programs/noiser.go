// A count with noise, in one of three ways, for `liptest samples --command`.
//
//	go build -o noiser noiser.go;  ./noiser laplace | discrete | snapped
//
// It reads lines {"dataset": [0, 1], "n": 100, "seed": 7} and answers {"outputs": [..]}.
package main

import (
	"bufio"
	crypto "crypto/rand"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand"
	"os"
)

type request struct {
	Dataset []int `json:"dataset"`
	N       int   `json:"n"`
}

var bits *rand.Rand

// The textbook's inverse: floats near 0 are finer than floats near 1, and this shows.
func laplace() float64 {
	u := bits.Float64() - 0.5
	return -math.Copysign(1, u) * math.Log1p(-2*math.Abs(u))
}

// Whole numbers: the difference of two geometric ones; epsilon 1.
func geometric() float64 { return math.Floor(-math.Log1p(-bits.Float64())) }

func draw(kind string, sum float64) float64 {
	switch kind {
	case "discrete":
		return sum + geometric() - geometric()
	case "snapped":
		return math.Max(-64, math.Min(64, math.Round((sum+laplace())*4)/4))
	}
	return sum + laplace()
}

func main() {
	var seed int64
	if binary.Read(crypto.Reader, binary.LittleEndian, &seed) != nil {
		os.Exit(1)
	}
	bits = rand.New(rand.NewSource(seed))
	input, output := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for input.Scan() {
		asked := request{}
		if json.Unmarshal(input.Bytes(), &asked) != nil {
			os.Exit(1)
		}
		sum, outputs := 0.0, []float64{}
		for _, value := range asked.Dataset {
			sum += float64(value)
		}
		for k := 0; k < asked.N; k++ {
			outputs = append(outputs, draw(os.Args[1], sum))
		}
		output.Encode(map[string][]float64{"outputs": outputs})
	}
}
