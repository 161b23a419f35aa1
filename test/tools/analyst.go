// Asks as an analyst with clickhouse-go over HTTP, as Grafana's data source does. Prints one JSON
// object per line; tools.ts reads them. Arguments: host, port, user, password, views.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

var db *sql.DB

func say(facts map[string]any) {
	line, _ := json.Marshal(facts)
	fmt.Println(string(line))
}

func attempt(check string, work func() (map[string]any, error)) {
	facts, err := work()
	if err != nil {
		facts = map[string]any{"error": err.Error()}
	}
	facts["check"] = check
	say(facts)
}

// readAll reads every row and column, of any type.
func readAll(query string) (map[string]any, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	count := 0
	for rows.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		count++
	}
	return map[string]any{"rows": count}, rows.Err()
}

func pairs(column string) (map[string]any, error) {
	rows, err := db.Query("SELECT " + column + ", intake_json(" + column + ") FROM intake.logs ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := [][2]string{}
	for rows.Next() {
		var value any
		var want string
		if err := rows.Scan(&value, &want); err != nil {
			return nil, err
		}
		text, isBytes := value.([]byte)
		if !isBytes {
			text = []byte(fmt.Sprint(value))
		}
		list = append(list, [2]string{string(text), want})
	}
	return map[string]any{"pairs": list}, rows.Err()
}

func count(ctx context.Context, query string, parameters ...any) (uint64, error) {
	var n uint64
	err := db.QueryRowContext(ctx, query, parameters...).Scan(&n)
	return n, err
}

func cancel() (map[string]any, error) {
	background := context.Background()
	ctx, stop := context.WithCancel(background)
	ended := make(chan error, 1)
	go func() {
		_, err := count(ctx, "SELECT sum(sleepEachRow(1)) FROM numbers(110) SETTINGS max_block_size = 1, max_execution_time = 120")
		ended <- err
	}()
	running := "SELECT count() FROM system.processes WHERE query LIKE '%numbers(110)%' AND query NOT LIKE '%processes%'"
	var from time.Time
	for wanted := uint64(1); ; {
		n, err := count(background, running)
		if err != nil {
			return nil, err
		}
		if n != wanted {
			continue
		}
		if wanted == 0 {
			break
		}
		stop()
		from = time.Now()
		wanted = 0
	}
	// Without an end the query would run for two minutes.
	return map[string]any{"value": <-ended != nil && time.Since(from) < time.Minute}, nil
}

func main() {
	db = clickhouse.OpenDB(&clickhouse.Options{
		Addr:     []string{os.Args[1] + ":" + os.Args[2]},
		Auth:     clickhouse.Auth{Database: "intake", Username: os.Args[3], Password: os.Args[4]},
		Protocol: clickhouse.HTTP,
	})
	background := context.Background()
	say(map[string]any{"versions": []string{fmt.Sprint(clickhouse.ClientVersionMajor, ".", clickhouse.ClientVersionMinor, ".", clickhouse.ClientVersionPatch)}})

	for _, view := range strings.Split(os.Args[5], ",") {
		attempt(view, func() (map[string]any, error) { return readAll("SELECT * FROM intake." + view + " LIMIT 1000") })
	}
	for _, column := range []string{"params", "device_extra", "extra"} {
		attempt("logs."+column, func() (map[string]any, error) { return pairs(column) })
	}
	attempt("a param", func() (map[string]any, error) {
		n, err := count(background, "SELECT count() FROM intake.logs WHERE event = ?", "it's")
		return map[string]any{"value": n}, err
	})
	attempt("a big integer", func() (map[string]any, error) {
		var text string
		err := db.QueryRow("SELECT intake_text(params.big) FROM intake.logs WHERE event = 'big'").Scan(&text)
		return map[string]any{"value": text}, err
	})
	attempt("a time", func() (map[string]any, error) {
		var at time.Time
		if err := db.QueryRow("SELECT time FROM intake.logs WHERE event = 'noon'").Scan(&at); err != nil {
			return nil, err
		}
		n, err := count(background, "SELECT count() FROM intake.logs WHERE event = 'noon' AND time = ?", clickhouse.DateNamed("", at, clickhouse.MilliSeconds).Value)
		_, offset := time.Now().Zone()
		return map[string]any{"value": at.UTC().Format(time.RFC3339Nano), "found": n, "offset": offset}, err
	})
	attempt("a deadline of two minutes", func() (map[string]any, error) {
		ctx, stop := context.WithTimeout(background, 2*time.Minute)
		defer stop()
		n, err := count(ctx, "SELECT toUInt64(1)")
		return map[string]any{"value": n}, err
	})
	attempt("cancel", cancel)
}
