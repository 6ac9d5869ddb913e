// As Tail.
package acme;

public class Tail2 {
	void run() { }
}
