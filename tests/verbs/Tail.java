// A class whose whole name is the end of another one's, com.acme.Tail.
package acme;

public class Tail {
	void run() { }
}
