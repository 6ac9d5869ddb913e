package zoo;

/** Loops, branches and switches of every shape. */
public class ControlFlow {
	enum Colour { RED, GREEN, BLUE }

	static int nested(int n) {
		int sum = 0;
		outer:
		for (int i = 0; i < n; i++) {
			int j = 0;
			while (true) {
				if (j > i)
					continue outer;
				do {
					sum += i * j;
					if (sum > 500)
						break outer;
				} while (++j % 3 != 0);
				for (int k : new int[] {1, 2, 3})
					sum += k;
			}
		}
		return sum;
	}

	static int dense(int i) {
		switch (i) {
		case 0: return 10;
		case 1: i += 2;
		case 2: i += 3; break;
		case 4: return 14;
		default: i = -1;
		}
		return i;
	}

	static String sparse(int i) {
		switch (i) {
		case Integer.MIN_VALUE: return "min";
		case -1: return "minus one";
		case 0: return "zero";
		case 1000: return "thousand";
		case Integer.MAX_VALUE: return "max";
		}
		return "other";
	}

	static int strings(String s) {
		switch (s) {
		case "Aa": return 1;
		case "BB": return 2;		// the same hash code as "Aa"
		case "": return 3;
		default: return s.length();
		}
	}

	static int colours(Colour c) {
		switch (c) {
		case RED: return 1;
		case BLUE: return 3;
		default: return -c.ordinal();
		}
	}

	static int huge(int i) {
		switch (i) {
		case 0: return 0; case 1: return 919; case 2: return 838;
		case 3: return 757; case 5: return 595; case 6: return 514;
		case 7: return 433; case 8: return 352; case 10: return 190;
		case 11: return 109; case 12: return 28; case 13: return 947;
		case 15: return 785; case 16: return 704; case 17: return 623;
		case 18: return 542; case 20: return 380; case 21: return 299;
		case 22: return 218; case 23: return 137; case 25: return 975;
		case 26: return 894; case 27: return 813; case 28: return 732;
		case 30: return 570; case 31: return 489; case 32: return 408;
		case 33: return 327; case 35: return 165; case 36: return 84;
		case 37: return 3; case 38: return 922; case 40: return 760;
		case 41: return 679; case 42: return 598; case 43: return 517;
		case 45: return 355; case 46: return 274; case 47: return 193;
		case 48: return 112; case 50: return 950; case 51: return 869;
		case 52: return 788; case 53: return 707; case 55: return 545;
		case 56: return 464; case 57: return 383; case 58: return 302;
		case 60: return 140; case 61: return 59; case 62: return 978;
		case 63: return 897; case 65: return 735; case 66: return 654;
		case 67: return 573; case 68: return 492; case 70: return 330;
		case 71: return 249; case 72: return 168; case 73: return 87;
		case 75: return 925; case 76: return 844; case 77: return 763;
		case 78: return 682; case 80: return 520; case 81: return 439;
		case 82: return 358; case 83: return 277; case 85: return 115;
		case 86: return 34; case 87: return 953; case 88: return 872;
		case 90: return 710; case 91: return 629; case 92: return 548;
		case 93: return 467; case 95: return 305; case 96: return 224;
		case 97: return 143; case 98: return 62; case 100: return 900;
		case 101: return 819; case 102: return 738; case 103: return 657;
		case 105: return 495; case 106: return 414; case 107: return 333;
		case 108: return 252; case 110: return 90; case 111: return 9;
		case 112: return 928; case 113: return 847; case 115: return 685;
		case 116: return 604; case 117: return 523; case 118: return 442;
		case 120: return 280; case 121: return 199; case 122: return 118;
		case 123: return 37; case 125: return 875; case 126: return 794;
		case 127: return 713; case 128: return 632; case 130: return 470;
		case 131: return 389; case 132: return 308; case 133: return 227;
		case 135: return 65; case 136: return 984; case 137: return 903;
		case 138: return 822; case 140: return 660; case 141: return 579;
		case 142: return 498; case 143: return 417; case 145: return 255;
		case 146: return 174; case 147: return 93; case 148: return 12;
		case 150: return 850; case 151: return 769; case 152: return 688;
		case 153: return 607; case 155: return 445; case 156: return 364;
		case 157: return 283; case 158: return 202; case 160: return 40;
		case 161: return 959; case 162: return 878; case 163: return 797;
		case 165: return 635; case 166: return 554; case 167: return 473;
		case 168: return 392; case 170: return 230; case 171: return 149;
		case 172: return 68; case 173: return 987; case 175: return 825;
		case 176: return 744; case 177: return 663; case 178: return 582;
		case 180: return 420; case 181: return 339; case 182: return 258;
		case 183: return 177; case 185: return 15; case 186: return 934;
		case 187: return 853; case 188: return 772; case 190: return 610;
		case 191: return 529; case 192: return 448; case 193: return 367;
		case 195: return 205; case 196: return 124; case 197: return 43;
		case 198: return 962; case 200: return 800; case 201: return 719;
		case 202: return 638; case 203: return 557; case 205: return 395;
		case 206: return 314; case 207: return 233; case 208: return 152;
		case 210: return 990; case 211: return 909; case 212: return 828;
		case 213: return 747; case 215: return 585; case 216: return 504;
		case 217: return 423; case 218: return 342; case 220: return 180;
		case 221: return 99; case 222: return 18; case 223: return 937;
		case 225: return 775; case 226: return 694; case 227: return 613;
		case 228: return 532; case 230: return 370; case 231: return 289;
		case 232: return 208; case 233: return 127; case 235: return 965;
		case 236: return 884; case 237: return 803; case 238: return 722;
		case 240: return 560; case 241: return 479; case 242: return 398;
		case 243: return 317; case 245: return 155; case 246: return 74;
		case 247: return 993; case 248: return 912; case 250: return 750;
		case 251: return 669; case 252: return 588; case 253: return 507;
		case 255: return 345; case 256: return 264; case 257: return 183;
		case 258: return 102; case 260: return 940; case 261: return 859;
		case 262: return 778; case 263: return 697; case 265: return 535;
		case 266: return 454; case 267: return 373; case 268: return 292;
		case 270: return 130; case 271: return 49; case 272: return 968;
		case 273: return 887; case 275: return 725; case 276: return 644;
		case 277: return 563; case 278: return 482; case 280: return 320;
		case 281: return 239; case 282: return 158; case 283: return 77;
		case 285: return 915; case 286: return 834; case 287: return 753;
		case 288: return 672; case 290: return 510; case 291: return 429;
		case 292: return 348; case 293: return 267; case 295: return 105;
		case 296: return 24; case 297: return 943; case 298: return 862;
		case 300: return 700; case 301: return 619; case 302: return 538;
		case 303: return 457; case 305: return 295; case 306: return 214;
		case 307: return 133; case 308: return 52; case 310: return 890;
		case 311: return 809; case 312: return 728; case 313: return 647;
		case 315: return 485; case 316: return 404; case 317: return 323;
		case 318: return 242;
		default: return -1;
		}
	}

	static int logic(Object o, boolean a, boolean b, Integer x) {
		int r = a && b || !a && o != null ? 1 : 2;
		if (o == null || (o instanceof String && ((String) o).isEmpty()) || x != null
				&& x > 3)
			r += 10;
		r += a ^ b ? 100 : a ? 200 : 300;
		while (!a && r < 50)
			r *= 2;
		return r;
	}

	/** Ends only by an exception. */
	static void endless(int[] a) {
		for (int i = 0;; i++)
			a[i] = i;
	}

	static int neverReturns(int i) {
		for (;;) {
			if (i > 100)
				throw new IllegalStateException("at " + i);
			i += 7;
		}
	}

	static void forever() {
		while (true) {
		}
	}

	public static void main(String[] args) {
		System.out.println(nested(3) + " " + nested(20));
		for (int i = -1; i < 6; i++)
			System.out.print(dense(i) + " " + sparse(i) + " " + huge(i * 37) + ";");
		System.out.println(sparse(1000) + sparse(Integer.MAX_VALUE)
				+ sparse(Integer.MIN_VALUE));
		System.out.println(strings("Aa") + " " + strings("BB") + " " + strings("") + " "
				+ strings("four"));
		for (Colour c : Colour.values())
			System.out.print(colours(c) + " ");
		System.out.println(logic(null, true, false, 4) + " " + logic("", false, true, null)
				+ " "
				+ logic("x", true, true, 2));
		try {
			endless(new int[10]);
		} catch (ArrayIndexOutOfBoundsException e) {
			System.out.println("left the endless loop");
		}
		try {
			neverReturns(1);
		} catch (IllegalStateException e) {
			System.out.println(e.getMessage());
		}
	}
}
