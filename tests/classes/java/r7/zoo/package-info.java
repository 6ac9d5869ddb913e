/** Language features, one file per family; every program prints what it computed. */
@Marks.Kept(value = "package", classes = {int.class, String[].class})
package zoo;
